"""Links that a running extension opens, such as ext+container:…, in place of URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.desktop.container_link import is_container_link
from hatbox.cli.terminal.terminal_text import visible
from hatbox.profile import Profile

__all__ = ["find_handlers", "is_extension_link"]

_LINK: Final = re.compile(r"(ext|web)\+[a-z0-9.+-]+:", re.IGNORECASE)
_MAX_SHOWN: Final = 80


def is_extension_link(text: str) -> bool:
    """Whether the text is a link with a scheme of extensions: ext+name or web+name."""
    return _LINK.match(text) is not None


async def find_handlers(profile: Profile, arguments: Iterable[str]) -> dict[str, str]:
    """The page of a running extension for each link among the arguments.

    A link to a container is left out if no extension handles it: Hatbox opens it. Raises BadParameter for others.
    """
    found: dict[str, str] = {}
    for link in filter(is_extension_link, arguments):
        page = await profile.extensions.handler_page(link)
        if page is not None:
            found[link] = page
        elif not is_container_link(link):
            scheme = link.partition(":")[0].lower()
            raise bad_parameter(
                f'"{visible(link[:_MAX_SHOWN])}": no running extension opens {scheme} links. '
                "Run one that does: hatbox run EXTENSION --engine chromium",
                param_hint="URL",
            )
    return found
