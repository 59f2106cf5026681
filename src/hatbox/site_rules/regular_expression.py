"""Regular expressions in rules: RE2, which takes linear time for every pattern. Pure.

The time is proportional to the size of the compiled pattern and to the length of the URL, and both are limited.
Python's `re` takes exponential time for patterns such as `(a+)+$`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from hatbox.errors import InvalidSiteRule

__all__ = ["MAX_REGEX_SIZE", "MAX_REGEX_URL", "RegularExpression"]

MAX_REGEX_SIZE: Final = 300
"""Instructions of a compiled expression. An ordinary one has 20 to 150."""

MAX_REGEX_URL: Final = 8192
"""Characters of a URL. Regular expressions match no longer one."""

_MAX_MEMORY: Final = 1 << 20  # bytes for each expression, with its cache of states


class RegularExpression:
    """A pattern that is a regular expression. `text` is the whole pattern, with its prefix."""

    def __init__(self, text: str, expression: str) -> None:
        self.text = text
        self._expression = expression
        size = self._compiled.programsize
        if size > MAX_REGEX_SIZE:
            raise InvalidSiteRule(
                text, f"the regular expression is too large: {size} instructions, more than {MAX_REGEX_SIZE}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegularExpression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def matches_text(self, url: bytes) -> bool:
        """Whether it matches anywhere in a URL, as ASCII, of at most MAX_REGEX_URL characters."""
        return self._compiled.search(url) is not None

    @cached_property
    def _compiled(self) -> Any:
        import re2  # imported late: few profiles have regular expressions

        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.max_mem = _MAX_MEMORY
        try:
            return re2.compile(self._expression.encode("utf-8", "replace"), options)
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
            raise InvalidSiteRule(
                self.text, f"the regular expression is invalid or not supported (RE2 syntax): {shown}"
            ) from None
