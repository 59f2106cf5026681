"""The commands colors and icons. They need no profile."""

from __future__ import annotations

import sys

from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption
from hatbox.cli.terminal.output import print_colors, print_icons, print_json
from hatbox.identity import palette

__all__ = ["colors", "icons"]


def colors(profile: ProfileOption = None, as_json: JsonOption = False) -> None:  # noqa: ARG001 - as every command
    """List the colors of identities."""
    if as_json:
        print_json([{"color": color, "colorCode": code} for color, code in palette.COLORS], sys.stdout)
    else:
        print_colors(sys.stdout)


def icons(profile: ProfileOption = None, as_json: JsonOption = False) -> None:  # noqa: ARG001 - as every command
    """List the icons of identities."""
    if as_json:
        print_json([{"icon": icon, "iconUrl": url} for icon, url in palette.ICONS], sys.stdout)
    else:
        print_icons(sys.stdout)
