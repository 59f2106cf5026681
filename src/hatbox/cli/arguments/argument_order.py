"""Arguments in the wrong order: a word of the command line that is no identity, and another one that is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hatbox.cli.terminal.command_errors import CommandError
    from hatbox.errors import IdentityNotFound
    from hatbox.profile import Profile

__all__ = ["note_words", "wrong_order"]

_LIKE_URL: Final = re.compile(r"[./:*]")
_words: Final[list[str]] = []  # of this command line


def note_words(words: Sequence[str]) -> None:
    """Set the words of this command line."""
    _words[:] = words


async def wrong_order(profile: Profile, error: IdentityNotFound) -> CommandError | None:
    """The error for a URL or pattern that is no identity, if the argument beside it is one; else None."""
    from hatbox.cli.terminal.command_errors import CommandError

    if error.name_or_id not in _words or not _LIKE_URL.search(error.name_or_id):
        return None
    place = _words.index(error.name_or_id)
    known = {key for each in await profile.identities.query() for key in (each.name, each.cookie_store_id)}
    beside = next((word for word in _words[max(place - 1, 0) : place + 2] if word in known), None)
    if beside is None:
        return None
    message = f'identity not found: "{error.name_or_id}", but "{beside}" is one. Are the arguments in the wrong order?'
    return CommandError(type(error).__name__, message, details={"nearest": [beside]})
