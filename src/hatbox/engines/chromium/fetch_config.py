"""Which requests Chromium pauses: the parameters of CDP Fetch.enable, derived from listeners and site rules."""

from __future__ import annotations

from typing import NamedTuple

from hatbox.engines.chromium.extension_resources import RESOURCE_PATTERNS, ExtensionResources
from hatbox.engines.chromium.resource_types import DOCUMENT_TYPES
from hatbox.web_requests import RequestEvents

__all__ = ["FetchConfig", "fetch_config"]


class FetchConfig(NamedTuple):
    """Parameters of Fetch.enable, and whether the Network domain is needed."""

    patterns: list[dict[str, str]]
    handle_auth_requests: bool
    needs_network_events: bool
    """Whether the end of requests must be observed. Chromium then sends Network events for all requests."""


def fetch_config(
    requests: RequestEvents, *, has_rules: bool = False, resources: ExtensionResources | None = None
) -> FetchConfig | None:
    """The narrowest configuration for listeners, site rules and files of extensions; None without all of them."""
    config = _config_of_listeners(requests, has_rules=has_rules)
    if resources is None or not resources.are_present:
        return config
    config = config or FetchConfig([], handle_auth_requests=False, needs_network_events=False)
    patterns = [{"urlPattern": pattern, "requestStage": "Request"} for pattern in RESOURCE_PATTERNS]
    # Without Network events, the first requests of a document may be paused before its URL is known.
    needs_network_events = config.needs_network_events or resources.depend_on_page
    return config._replace(patterns=[*config.patterns, *patterns], needs_network_events=needs_network_events)


def _config_of_listeners(requests: RequestEvents, *, has_rules: bool) -> FetchConfig | None:
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
