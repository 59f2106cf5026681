"""Which requests Chromium pauses: the parameters of CDP Fetch.enable, derived from listeners and site rules."""

from __future__ import annotations

from typing import NamedTuple

from hatbox.engines.chromium.resource_types import DOCUMENT_TYPES
from hatbox.web_requests import RequestEvents

__all__ = ["FetchConfig", "fetch_config"]


class FetchConfig(NamedTuple):
    """Parameters of Fetch.enable, and whether the Network domain is needed."""

    patterns: list[dict[str, str]]
    handle_auth_requests: bool
    needs_network_events: bool
    """Whether the end of requests must be observed. Chromium then sends Network events for all requests."""


def fetch_config(requests: RequestEvents, *, has_rules: bool = False) -> FetchConfig | None:
    """The narrowest configuration for the registered listeners and site rules; None without both."""
    if not requests.has_listeners:
        documents = {"urlPattern": "http*", "resourceType": "Document", "requestStage": "Request"}
        return FetchConfig([documents], handle_auth_requests=False, needs_network_events=False) if has_rules else None
    types, has_response_listeners = requests.listened_types, requests.has_response_listeners
    only_documents = types is not None and types <= DOCUMENT_TYPES
    pattern = {"urlPattern": "http*"} | ({"resourceType": "Document"} if only_documents else {})
    stages = ("Request", "Response") if has_response_listeners else ("Request",)
    handle_auth_requests = bool(requests.on_auth_required)
    return FetchConfig(
        [pattern | {"requestStage": stage} for stage in stages],
        handle_auth_requests,
        has_response_listeners or handle_auth_requests or bool(requests.on_error_occurred) or not only_documents,
    )
