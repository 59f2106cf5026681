"""A spinner while the user waits. Prints nothing if standard error is not a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from hatbox.cli.terminal.terminal_text import visible

__all__ = ["spinner"]


@contextlib.contextmanager
def spinner(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on standard error. Yields a function that changes its text."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)

    def rendered(text: str) -> Text:
        return Text(visible(text, console.encoding), no_wrap=True, overflow="ellipsis")

    with console.status(rendered(text)) as status:
        yield lambda new_text: status.update(rendered(new_text))
