"""An index of rules by path. Finds the best rule for a path without trying them all. Pure."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

from hatbox.identities.site_rules.compared_url import ComparedUrl
from hatbox.identities.site_rules.site_pattern import SitePattern, Specificity
from hatbox.identities.site_rules.site_rule import SiteRule

__all__ = ["PathIndex", "RankedRule"]


class RankedRule(NamedTuple):
    """A rule with its place in the order. Rules with the same pattern are ordered by id."""

    specificity: Specificity
    id: int
    rule: SiteRule
    pattern: SitePattern


class PathIndex:
    """The rules of one host and port.

    Paths without a star are looked up. Others are looked up by the text before the first star and the text after the
    last, for each length that occurs; few lengths occur, even with many rules.
    """

    def __init__(self) -> None:
        self._any: list[RankedRule] = []
        self._exact: dict[str, list[RankedRule]] = {}
        self._globs: dict[str, _SuffixIndex] = {}
        self._lengths: list[int] = []

    def add(self, ranked: RankedRule) -> None:
        """Add a rule."""
        path = ranked.pattern.path
        if path is None:
            insort(self._any, ranked)
        elif len(path.pieces) == 1:
            insort(self._exact.setdefault(path.pieces[0], []), ranked)
        else:
            prefix = path.pieces[0]
            if prefix not in self._globs:
                self._globs[prefix] = _SuffixIndex()
                if len(prefix) not in self._lengths:
                    insort(self._lengths, len(prefix))
            self._globs[prefix].add(ranked)

    def best(self, url: ComparedUrl) -> RankedRule | None:
        """The best rule for a URL with this host and port, or None."""
        path, scheme = url.path, url.scheme
        found = _first_of_scheme(self._exact.get(path), scheme)
        if found is not None:
            return found  # no glob that matches the same path has more characters
        length = len(path)
        for prefix_length in self._lengths:
            if prefix_length > length:
                break
            suffixes = self._globs.get(path[:prefix_length])
            if suffixes is not None:
                candidate = suffixes.best(path, prefix_length, scheme)
                if candidate is not None and (found is None or candidate < found):
                    found = candidate
        return found if found is not None else _first_of_scheme(self._any, scheme)


class _SuffixIndex:
    """Globs that start with the same text, by the text after their last star."""

    def __init__(self) -> None:
        self._globs: dict[str, list[RankedRule]] = {}
        self._lengths: list[int] = []

    def add(self, ranked: RankedRule) -> None:
        path = ranked.pattern.path
        suffix = path.pieces[-1] if path else ""
        if suffix not in self._globs:
            self._globs[suffix] = []
            if len(suffix) not in self._lengths:
                insort(self._lengths, len(suffix))
        insort(self._globs[suffix], ranked)

    def best(self, path: str, start: int, scheme: str) -> RankedRule | None:
        found: RankedRule | None = None
        length = len(path)
        for suffix_length in self._lengths:
            if suffix_length > length - start:
                break
            ranked = _first_match(self._globs.get(path[length - suffix_length :]), path, scheme)
            if ranked is not None and (found is None or ranked < found):
                found = ranked
        return found


def _first_match(candidates: list[RankedRule] | None, path: str, scheme: str) -> RankedRule | None:
    """The first of sorted globs that matches. Their first and last pieces are known to match, and not to overlap."""
    for ranked in candidates or ():
        pattern = ranked.pattern
        if pattern.scheme in ("", scheme) and (
            pattern.path is None or len(pattern.path.pieces) == 2 or pattern.path.matches(path)
        ):
            return ranked
    return None


def _first_of_scheme(candidates: list[RankedRule] | None, scheme: str) -> RankedRule | None:
    for ranked in candidates or ():
        if ranked.pattern.scheme in ("", scheme):
            return ranked
    return None
