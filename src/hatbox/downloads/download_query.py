"""downloads.DownloadQuery: which downloads a query matches, and their order. As Firefox does it, with its messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from hatbox.downloads.download_item import FIELDS
from hatbox.errors import ApiError

__all__ = ["find_downloads"]

_EXACT: Final = (
    *("id", "mime", "startTime", "endTime", "state", "paused", "error", "cookieStoreId", "bytesReceived"),
    *("totalBytes", "fileSize", "exists"),
)
_MAX_PATTERN: Final = 1000
_MAX_INPUT: Final = 4096
_MAX_MEMORY: Final = 1 << 20  # bytes for each expression

View = Mapping[str, Any]


def find_downloads(views: Iterable[View], query: Mapping[str, Any]) -> list[View]:
    """The downloads that match, in the order that the query names. Raises ApiError."""
    given = {name: value for name, value in query.items() if value is not None}
    checks = [check for check in (_terms(given), _times(given), _sizes(given)) if check is not None]
    checks += [_text(given, "filename"), _text(given, "url")]
    found = [
        view
        for view in _ordered(views, given.get("orderBy") or ())
        if all(view[name] == given[name] for name in _EXACT if name in given) and all(check(view) for check in checks)
    ]
    limit = given.get("limit") or len(found)
    return found[:limit]


def _ordered(views: Iterable[View], order: Sequence[str]) -> list[View]:
    found = list(views)
    fields = [(name.removeprefix("-"), name.startswith("-")) for name in order]
    for name, _ in fields:
        if name not in FIELDS:
            raise ApiError(f"Invalid orderBy field {name}")
    for name, reverse in reversed(fields):
        found.sort(key=lambda view: _sort_key(view.get(name)), reverse=reverse)
    return found


def _sort_key(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    return (2, value) if isinstance(value, str) else (1, value)


def _terms(query: Mapping[str, Any]) -> Callable[[View], bool] | None:
    terms = [term.lower() for term in query.get("query") or ()]
    if not terms:
        return None

    def matches(view: View) -> bool:
        texts = (view["url"].lower(), view["filename"].lower())
        has = [any(term.removeprefix("-") in text for text in texts) != term.startswith("-") for term in terms]
        return all(has)

    return matches


def _times(query: Mapping[str, Any]) -> Callable[[View], bool] | None:
    before, after = _time(query.get("startedBefore")), _time(query.get("startedAfter"))
    if before is None and after is None:
        return None
    return lambda view: (
        (before is None or _time(view["startTime"]) <= before) and (after is None or _time(view["startTime"]) >= after)
    )


def _time(value: Any) -> Any:
    """Milliseconds since 1970 of a DownloadTime."""
    if value is None or isinstance(value, (int, float)):
        return value
    text = str(value)
    if re.fullmatch(r"[1-9]\d*", text, re.ASCII):
        return int(text[:20])
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise ApiError(f"Invalid date string {text}") from None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000


def _sizes(query: Mapping[str, Any]) -> Callable[[View], bool] | None:
    if "totalBytesGreater" not in query and "totalBytesLess" not in query:
        return None
    greater, less = query.get("totalBytesGreater", -1), query.get("totalBytesLess", float("inf"))
    return lambda view: view["totalBytes"] != -1 and greater < view["totalBytes"] < less


def _text(query: Mapping[str, Any], field: str) -> Callable[[View], bool]:
    """Compare a text, or search with a regular expression, both without case."""
    value, expression = query.get(field), query.get(f"{field}Regex")
    pattern = _pattern(expression, field) if expression is not None else None
    if value is not None:
        wanted = value.lower()
        is_possible = pattern is None or pattern.search(wanted[:_MAX_INPUT]) is not None
        return lambda view: is_possible and view[field].lower() == wanted
    if pattern is None:
        return lambda _: True
    return lambda view: pattern.search(view[field][:_MAX_INPUT]) is not None


def _pattern(expression: str, field: str) -> Any:
    """Compile an expression of an extension, which must not block the program: RE2 takes linear time."""
    import re2  # imported late: few extensions search

    if len(expression) > _MAX_PATTERN:
        raise ApiError(f"Invalid {field}Regex: it has more than {_MAX_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        raise ApiError(f"Invalid {field}Regex: {error}") from None
