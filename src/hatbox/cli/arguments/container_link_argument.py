"""A link of the form ext+container:name=Work&url=… in place of an identity and a URL."""

from __future__ import annotations

import sys

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.desktop.container_link import InvalidLink, is_container_link, parse_container_link
from hatbox.cli.terminal.output import print_line

__all__ = ["expand_container_link"]


def expand_container_link(identity: str, urls: list[str] | None) -> tuple[str, list[str] | None]:
    """The identity and the URL of a link that is given as the identity; else both as they are.

    Raises BadParameter.
    """
    if not is_container_link(identity):
        return identity, urls
    if urls:
        raise bad_parameter("a link names its URL. Specify the link alone", param_hint="URL")
    try:
        link = parse_container_link(identity)
    except InvalidLink as error:
        raise bad_parameter(str(error), param_hint="NAME-OR-ID") from None
    if link.ignored:
        print_line(f"These parts of the link have no effect: {', '.join(link.ignored)}.", sys.stderr)
    return link.identity, [link.url]
