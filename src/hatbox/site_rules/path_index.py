"""An index of rules by path. Finds the best rule for a path without trying them all. Pure."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import Final, NamedTuple

from hatbox.site_rules.compared_url import ComparedUrl
from hatbox.site_rules.site_pattern import SitePattern, Specificity
from hatbox.site_rules.site_rule import SiteRule
from hatbox.site_rules.text_search import TextSearch

__all__ = ["PathIndex", "RankedRule"]

_FEW_PIECES: Final = 16  # searching so few in a path is cheaper than looking up the text at each position
_LONG_PATH: Final = 8192  # a page can make a path with millions of positions at which texts of many lengths may start


class RankedRule(NamedTuple):
    """A rule with its place in the order. Rules with the same pattern are ordered by id."""

    specificity: Specificity
    id: int
    rule: SiteRule
    pattern: SitePattern


class PathIndex:
    """The rules of one host and port.

    Paths without a star are looked up. Others are looked up by the text before the first star, after the last, and
    between two stars, for each length that occurs; few lengths occur, even with many rules.
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
        self._globs: dict[str, _MiddleIndex] = {}
        self._lengths: list[int] = []

    def add(self, ranked: RankedRule) -> None:
        suffix = _pieces(ranked)[-1]
        if suffix not in self._globs:
            self._globs[suffix] = _MiddleIndex()
            if len(suffix) not in self._lengths:
                insort(self._lengths, len(suffix))
        self._globs[suffix].add(ranked)

    def best(self, path: str, start: int, scheme: str) -> RankedRule | None:
        found: RankedRule | None = None
        length = len(path)
        for suffix_length in self._lengths:
            if suffix_length > length - start:
                break
            globs = self._globs.get(path[length - suffix_length :])
            ranked = globs.best(path, start, scheme) if globs is not None else None
            if ranked is not None and (found is None or ranked < found):
                found = ranked
        return found


class _MiddleIndex:
    """Globs with the same text before the first star and after the last, by the longest text between two stars."""

    def __init__(self) -> None:
        self._without_middle: list[RankedRule] = []
        self._globs: dict[str, list[RankedRule]] = {}
        self._lengths: dict[str, list[int]] = {}  # by first character: most positions of a path start no piece
        self._search: TextSearch | None = None  # created for the first long path

    def add(self, ranked: RankedRule) -> None:
        middle = _pieces(ranked)[1:-1]
        if not middle:
            insort(self._without_middle, ranked)
            return
        self._search = None
        piece = max(middle, key=len)
        lengths = self._lengths.setdefault(piece[0], [])
        if len(piece) not in lengths:
            insort(lengths, len(piece))
        insort(self._globs.setdefault(piece, []), ranked)

    def best(self, path: str, start: int, scheme: str) -> RankedRule | None:
        found = _first_of_scheme(self._without_middle, scheme)
        if not self._globs:
            return found
        for piece in self._contained(path, start):
            found = _better_match(self._globs[piece], path, scheme, found)
        return found

    def _contained(self, path: str, start: int) -> Iterable[str]:
        """The pieces that a path contains, each once: a URL can repeat one a million times."""
        globs = self._globs
        if len(globs) <= _FEW_PIECES:
            return [piece for piece in globs if piece in path]
        if len(path) > _LONG_PATH:
            self._search = self._search or TextSearch(globs)
            return self._search.contained_in(path)
        contained: set[str] = set()
        for first, lengths in self._lengths.items():
            at = path.find(first, start)
            while at >= 0:
                for length in lengths:
                    if (piece := path[at : at + length]) in globs:
                        contained.add(piece)
                at = path.find(first, at + 1)
        return contained


def _better_match(candidates: list[RankedRule], path: str, scheme: str, found: RankedRule | None) -> RankedRule | None:
    """The first of sorted candidates that matches and is better than `found`; otherwise `found`."""
    for ranked in candidates:
        if found is not None and found < ranked:
            break
        glob = ranked.pattern.path
        if ranked.pattern.scheme in ("", scheme) and (glob is None or glob.matches(path)):
            return ranked
    return found


def _pieces(ranked: RankedRule) -> tuple[str, ...]:
    return ranked.pattern.path.pieces if ranked.pattern.path else ("",)


def _first_of_scheme(candidates: list[RankedRule] | None, scheme: str) -> RankedRule | None:
    for ranked in candidates or ():
        if ranked.pattern.scheme in ("", scheme):
            return ranked
    return None
