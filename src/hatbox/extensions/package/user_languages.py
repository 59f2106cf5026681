"""The languages of the user, from the locale of the system."""

from __future__ import annotations

import contextlib
import locale
import re

__all__ = ["user_languages"]


def user_languages() -> tuple[str, ...]:
    """Language tags, the preferred one first. English is last, as in Firefox by default."""
    known = None
    with contextlib.suppress(ValueError):  # invalid locale in the environment
        known = locale.getlocale()[0]
    language = known.replace("_", "-") if known and re.fullmatch("[a-z]{2,3}_[A-Z]{2}", known) else "en-US"
    return tuple(dict.fromkeys([language, "en-US", "en"]))
