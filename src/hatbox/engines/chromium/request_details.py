"""What webRequest listeners see of a request that Chromium has paused: frame, type, URLs and body."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.engines.chromium.frame_path import FramePath, Target
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.in_flight_requests import InFlightRequest
from hatbox.engines.chromium.resource_types import DOCUMENT_TYPES, MAIN_FRAME, resource_type
from hatbox.web_requests import RequestBody, RequestEvents, RequestFrame
from hatbox.web_requests.bodies import parse_request_body

__all__ = ["TabLookup", "is_third_party", "request_body", "track_request"]

logger = logging.getLogger("hatbox.engines.chromium")


class TabLookup(Protocol):
    """Maps CDP targets to tabs."""

    async def request_frame(self, target: Target) -> RequestFrame | None:
        """The tab of a page, or the identity of a worker; None if listeners must not see its requests."""

    def fail_load(self, target_id: str, url: str, why: str) -> None:
        """End the load of a page with an error, because a listener redirected it to a URL that cannot be loaded."""

    def target_destroyed(self, target_id: str) -> None:
        """A page or a worker was closed."""


async def track_request(
    event: Mapping[str, Any], frames: FrameTree, tabs: TabLookup, requests: RequestEvents
) -> InFlightRequest | None:
    """Start the webRequest lifecycle of a paused request; None if listeners must not see it."""
    request = event["request"]
    frame = await frames.wait_for_frame(event["frameId"], event.get("networkId"))
    if frame is None:
        logger.debug("webRequest: no frame for request: %s", request["url"])
        return None
    request_frame = await tabs.request_frame(frame.target)
    if request_frame is None:
        return None
    kind = resource_type(event["resourceType"], len(frame.frames))
    document_url, origin_url = frame.document_url, None
    if kind in DOCUMENT_TYPES:
        parents = frame.frames[1:]
        document_url = FramePath(frame.target, parents).document_url if parents else None
        if kind == MAIN_FRAME and (referer := request["headers"].get("Referer")):  # else the user started it
            origin_url = frame.document_url or frames.url_of(frame.target.opener_id) or referer
    if frame.frames:
        frame_ids = [frame_id for frame_id, _ in frame.frames]
        request_frame = msgspec.structs.replace(
            request_frame,
            frame_id=frame_ids[0],
            parent_frame_id=frame_ids[1] if frame_ids[1:] else -1,
            ancestors=frame.frames[1:],
        )
    lifecycle = requests.start_request(request_frame, request["url"], kind, document_url, origin_url)
    return InFlightRequest(lifecycle, frame, kind, event["frameId"])


def request_body(request: Mapping[str, Any]) -> RequestBody | None:
    """The body of a CDP Network.Request."""
    if not request.get("hasPostData"):
        return None
    parts = [base64.b64decode(each["bytes"]) for each in request.get("postDataEntries", ()) if "bytes" in each]
    if not parts:
        return RequestBody(error="Chromium does not report the body")
    content_type = next((value for name, value in request["headers"].items() if name.lower() == "content-type"), "")
    return parse_request_body(content_type, parts)


def is_third_party(frame: FramePath, kind: str, url: str) -> bool:
    """Whether the URL is cross-site to the document of the frame or of one of its ancestors."""
    documents = frame.frames if kind not in DOCUMENT_TYPES else frame.frames[1:]
    sites = {_site(document_url) for _, document_url in documents if document_url.startswith("http")}
    return bool(sites - {_site(url)})


def _site(url: str) -> str:
    return default_public_suffixes().site(urlsplit(url).hostname or "")
