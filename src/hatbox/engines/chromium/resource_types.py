"""CDP resource types and the webRequest.ResourceType of each."""

from __future__ import annotations

from typing import Final

__all__ = ["DOCUMENT_TYPES", "MAIN_FRAME", "SUB_FRAME", "resource_type"]

MAIN_FRAME: Final = "main_frame"
SUB_FRAME: Final = "sub_frame"
DOCUMENT_TYPES: Final = frozenset({MAIN_FRAME, SUB_FRAME})

_RESOURCE_TYPES: Final = {
    "Stylesheet": "stylesheet",
    "Image": "image",
    "Media": "media",
    "Font": "font",
    "Script": "script",
    "XHR": "xmlhttprequest",
    "Fetch": "xmlhttprequest",
    "EventSource": "xmlhttprequest",
    "Preflight": "xmlhttprequest",
    "Manifest": "web_manifest",
    "Ping": "beacon",
    "CSPViolationReport": "csp_report",
}


def resource_type(cdp_type: str, frame_depth: int) -> str:
    """The webRequest type of a request. `frame_depth` is 1 for the main frame, 0 for a worker."""
    if cdp_type == "Document" and frame_depth:
        return MAIN_FRAME if frame_depth == 1 else SUB_FRAME
    return _RESOURCE_TYPES.get(cdp_type, "other")
