"""Tables: as wide as the terminal allows, or plain columns for a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TextIO

import msgspec

from hatbox.cli.terminal.terminal_text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["Cell", "console_of", "encoding_of", "is_interactive", "print_table", "styled"]

_MAX_STYLED_ROWS: Final = 1000  # Rich takes half a millisecond per row; longer tables are plain columns
_GAP: Final = 3  # cells that Rich puts between two columns
_MIN_COLUMN_WIDTH: Final = 10  # of a column that wraps or is clipped; narrower is not readable
_INDENT: Final = 2


class Cell(msgspec.Struct, frozen=True):
    """The text of a cell, and the block of color and the glyph that a terminal shows before it.

    In a narrow terminal it wraps, or is clipped with an ellipsis, or is never shortened.
    """

    text: str
    color: str = ""
    glyph: str = ""
    wraps: bool = False
    clips: bool = False


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    stream: TextIO,
    *,
    narrow: tuple[Sequence[str], Sequence[Sequence[Cell]]] | None = None,
    empty: str = "",
) -> None:
    """Print rows: in a terminal with a header, for a pipe in plain columns.

    In a terminal that is too narrow for the columns, `narrow` is printed: a header and rows with fewer columns. If that
    is too wide as well, each row becomes several lines, without a header. Without rows, `empty` is printed to standard
    error.
    """
    if not rows:
        sys.stderr.write(f"{empty}\n" if empty else "")
        return
    if not is_interactive(stream) or len(rows) > _MAX_STYLED_ROWS:
        _print_columns(rows, stream)
        return
    console = console_of(stream)
    if narrow and _min_width(header, rows, console) > console.width:
        header, rows = narrow
    if _min_width(header, rows, console) <= console.width:
        _print_grid(header, rows, console)
    else:
        _print_blocks(rows, console)


def styled(cell: Cell, console: Console) -> Text:
    """The cell with its block of color and its glyph, if the terminal can show them."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ellipsis") if cell.clips else Text()
    if cell.color and console.color_system and not console.no_color:
        text.append("  ", f"on {cell.color}").append(" ")
    if cell.glyph and _can_show(cell.glyph, console.encoding):
        text.append(f"{cell.glyph} ")
    return text.append(visible(cell.text, console.encoding))


def console_of(stream: TextIO) -> Console:
    """Rich's console for a stream, without its markup."""
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def is_interactive(stream: TextIO) -> bool:
    """Whether the stream is a terminal, or FORCE_COLOR is set, as for a pager."""
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def encoding_of(stream: TextIO) -> str:
    """The encoding of a stream."""
    return stream.encoding or "utf-8"


def _print_columns(rows: Sequence[Sequence[Cell]], stream: TextIO) -> None:
    from rich.cells import cell_len

    texts = [[visible(cell.text, encoding_of(stream)) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True))
        stream.write("  ".join(padded).rstrip() + "\n")


def _min_width(header: Sequence[str], rows: Sequence[Sequence[Cell]], console: Console) -> int:
    """The minimum width of a table: unshortened cells complete, the others readable."""
    from rich.cells import cell_len

    columns = list(zip(*rows, strict=True))
    total = _GAP * (len(columns) - 1)
    for title, column in zip(header, columns, strict=False):
        width = max(cell_len(title), *(styled(cell, console).cell_len for cell in column))
        total += min(width, _MIN_COLUMN_WIDTH) if column[0].wraps or column[0].clips else width
    return total


def _print_grid(header: Sequence[str], rows: Sequence[Sequence[Cell]], console: Console) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title, cell in zip(header, rows[0], strict=False):
        table.add_column(title, no_wrap=not (cell.wraps or cell.clips), overflow="fold" if cell.wraps else "ellipsis")
    for row in rows:
        table.add_row(*(styled(cell, console) for cell in row))
    console.print(table)


def _print_blocks(rows: Sequence[Sequence[Cell]], console: Console) -> None:
    """Print each row as lines of as many cells as fit. The terminal wraps a longer unshortened cell, so that it can be
    copied."""
    for row in rows:
        for number, line in enumerate(_lines(row, console)):
            line.pad_left(_INDENT if number else 0)
            console.print(line, soft_wrap=True)


def _lines(row: Sequence[Cell], console: Console) -> Iterator[Text]:
    from rich.text import Text

    line = Text()
    for cell in row:
        for part in _parts(cell, console):
            if line and line.cell_len + len("  ") + part.cell_len > console.width - _INDENT:
                yield line
                line = Text()
            line = Text("  ").join([line, part]) if line else part
    if line:
        yield line


def _parts(cell: Cell, console: Console) -> Sequence[Text]:
    """The parts of a cell that each fit into a line; none for an empty cell."""
    if not cell.text:
        return []
    text, width = styled(cell, console), console.width - _INDENT
    if cell.clips:
        text.truncate(width, overflow="ellipsis")
    return list(text.wrap(console, width, overflow="fold")) if cell.wraps else [text]


def _can_show(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
