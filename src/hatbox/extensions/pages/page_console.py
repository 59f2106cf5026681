"""Console messages and uncaught errors of extension pages, from the events of CDP. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hatbox.extensions.pages.page_urls import PageUrls
from hatbox.extensions.runtime.host import LogEntry

__all__ = ["console_entry", "exception_entry"]

_LEVELS: Final = {"debug": "debug", "info": "info", "warning": "warn", "error": "error", "assert": "error"}
_MAX_TEXT: Final = 10_000  # characters of a message


def console_entry(event: Mapping[str, Any], urls: PageUrls) -> LogEntry:
    """The log entry of a Runtime.consoleAPICalled event."""
    text = " ".join(_text_of(each) for each in event.get("args", ()))[:_MAX_TEXT]
    frames = event.get("stackTrace", {}).get("callFrames", ())
    return LogEntry("console", _LEVELS.get(event["type"], "log"), text, *_location(frames, urls))


def exception_entry(event: Mapping[str, Any], urls: PageUrls) -> LogEntry:
    """The log entry of a Runtime.exceptionThrown event."""
    details = event["exceptionDetails"]
    exception = details.get("exception", {})
    stack = urls_in(exception.get("description") or details["text"], urls)[:_MAX_TEXT]
    kind = "rejection" if "in promise" in details["text"] else "error"
    frames = details.get("stackTrace", {}).get("callFrames") or [details]
    return LogEntry(kind, "error", stack.partition("\n    at ")[0], *_location(frames, urls), stack)


def urls_in(text: str, urls: PageUrls) -> str:
    """A text with the URLs of the extension as Firefox spells them."""
    return text.replace(urls.origin, urls.extension_origin)


def _text_of(value: Mapping[str, Any]) -> str:
    if value["type"] == "string":
        return str(value["value"])
    shown = value.get("description", value.get("unserializableValue", value.get("value")))
    return "null" if value.get("subtype") == "null" else value["type"] if shown is None else str(shown)


def _location(frames: Sequence[Mapping[str, Any]], urls: PageUrls) -> tuple[str, int, int]:
    """Where the script of the page is. Scripts of Hatbox, which are called in between, have no URL."""
    first = next((frame for frame in frames if frame.get("url")), None)
    if first is None:
        return "", 0, 0
    return urls.extension_url(first.get("url", "")), first.get("lineNumber", -1) + 1, first.get("columnNumber", -1) + 1
