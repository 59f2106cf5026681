"""Commands that messages propose. They name the profile of this command line, else they would speak of another one."""

from __future__ import annotations

import re
from typing import Final

from hatbox.cli.terminal.terminal_text import without_passwords
from hatbox.shell_words import shell_word

__all__ = ["note_profile", "with_profile"]

_named: Final = {"profile": ""}  # by the option --profile of this command line

# A command is proposed after a colon or "run", or in backticks: "of hatbox browse (pid 7)" names a program. Some
# commands have the address as an argument, or need no profile.
_PROPOSED: Final = re.compile(
    r"((?:: |[Rr]un |`)hatbox) (?=[a-z])(?![a-z-]+ \(|[^`]* --profile\b)"
    r"(?!profile (?:create|copy|generate-key)|demo\b|colors\b|icons\b)"
)


def note_profile(option: str | None) -> None:
    """Set the profile that this command line names; None is the default profile."""
    _named["profile"] = option or ""


def with_profile(text: str) -> str:
    """The text with --profile in the commands that it proposes, if this command line names a profile."""
    profile = _named["profile"]
    if not profile or "hatbox " not in text:
        return text
    option = f"--profile {shell_word(without_passwords(profile))}"
    return _PROPOSED.sub(lambda found: f"{found[1]} {option} ", text)
