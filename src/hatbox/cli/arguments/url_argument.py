"""URL arguments, with the errors of the command line. Knows nothing of tabs."""

from __future__ import annotations

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.terminal.terminal_text import visible
from hatbox.tabs.tab_model import BLANK
from hatbox.urls.typed_address import parse_typed_address

__all__ = ["parse_url_argument"]


def parse_url_argument(typed: str) -> str:
    """The URL with its scheme. Raises BadParameter for a URL that a tab cannot load."""
    if typed.strip() == BLANK:
        return BLANK
    try:
        return parse_typed_address(typed)
    except ValueError as error:
        raise bad_parameter(f'"{visible(typed)}": {error}', param_hint="URL") from None
