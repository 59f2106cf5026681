"""The languages of whoever runs extensions, as the system tells them."""

from __future__ import annotations

import contextlib
import locale
import re

__all__ = ["user_languages"]


def user_languages() -> tuple[str, ...]:
    """Language tags, the preferred one first; English comes last, as in a Firefox that nobody has set up."""
    known = None
    with contextlib.suppress(ValueError):  # what the environment says is no locale
        known = locale.getlocale()[0]
    language = known.replace("_", "-") if known and re.fullmatch("[a-z]{2,3}_[A-Z]{2}", known) else "en-US"
    return tuple(dict.fromkeys([language, "en-US", "en"]))
