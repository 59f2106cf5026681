"""Something that turns while a person waits. Shows nothing where nobody is looking."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from hatbox.cli.terminal.terminal_text import visible

__all__ = ["spinner"]


@contextlib.contextmanager
def spinner(text: str) -> Iterator[Callable[[str], None]]:
    """Turns on the standard error stream until it is left; gives a function that changes what it says."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)

    def shown(words: str) -> Text:
        return Text(visible(words, console.encoding), no_wrap=True, overflow="ellipsis")

    with console.status(shown(text)) as status:
        yield lambda words: status.update(shown(words))
