"""Names that are similar to one that does not exist, for error messages. Pure text."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from hatbox.errors import ProfileNotFound

__all__ = ["nearest_names", "profile_not_found"]


def nearest_names(name: str, existing: Iterable[str]) -> list[str]:
    """At most three similar names, the nearest first. Upper and lower case are the same."""
    by_folded = {each.casefold(): each for each in existing}
    return [by_folded[each] for each in get_close_matches(name.casefold(), list(by_folded), n=3, cutoff=0.6)]


def profile_not_found(label: str, problem: str, create: str, nearest: Iterable[str]) -> ProfileNotFound:
    """The error for an address without a profile. `create` is the argument of `hatbox profile create`."""
    similar = list(nearest)
    hint = f"Did you mean {similar[0]}? " if similar else ""
    return ProfileNotFound(label, problem, f"{hint}Create it with: hatbox profile create {create}", similar)
