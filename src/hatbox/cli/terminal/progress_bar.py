"""A progress bar on standard error for long commands. Prints nothing if standard error is not a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["progress_bar"]

_MIN_TOTAL: Final = 2000  # fewer rows are done before a progress bar could be read


@contextlib.contextmanager
def progress_bar(what: str, *, is_shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Yields a function to call with the number that is done, and of all. The bar is removed at the end."""
    if not is_shown or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    with contextlib.ExitStack() as stack:
        shown: list[tuple[Progress, TaskID]] = []

        def show(done: int, total: int) -> None:
            if not shown and total >= _MIN_TOTAL:
                shown.append(_start(stack, what))
            for bar, task in shown:
                bar.update(task, completed=done, total=total)

        yield show


def _start(stack: contextlib.ExitStack, what: str) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import Progress

    bar = stack.enter_context(Progress(console=Console(file=sys.stderr), transient=True))
    return bar, bar.add_task(what)
