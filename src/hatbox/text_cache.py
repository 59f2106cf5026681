"""A cache for functions of one text. Long texts are never cached, because servers and scripts choose them.

An `lru_cache` is bounded in entries, not in bytes: a thousand texts of a megabyte each fit in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, Protocol, TypeVar, cast

__all__ = ["LONGEST_CACHED", "CachedFunction", "cache_short_texts"]

T = TypeVar("T")
Result = TypeVar("Result", covariant=True)

LONGEST_CACHED: Final = 512
"""Characters. Longer texts are rare."""


class CachedFunction(Protocol[Result]):
    """A function of one text with a cache."""

    __wrapped__: Any
    """The function without its cache."""
    cache_info: Any
    """See functools.lru_cache."""

    def __call__(self, text: str, /) -> Result:
        """The result for this text."""


def cache_short_texts(size: int, longest: int = LONGEST_CACHED) -> Callable[[Callable[[str], T]], CachedFunction[T]]:
    """Cache the results for up to `size` texts, none of them with more than `longest` characters."""

    def decorate(function: Callable[[str], T]) -> CachedFunction[T]:
        cached = lru_cache(maxsize=size)(function)

        @wraps(function)
        def call(text: str) -> T:
            return cached(text) if len(text) <= longest else function(text)

        with_cache = cast("CachedFunction[T]", call)
        with_cache.cache_info = cached.cache_info
        return with_cache

    return decorate
