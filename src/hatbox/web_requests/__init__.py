"""webRequest and proxy events: requests of pages, and the responses of listeners. Knows no engine."""

from hatbox.web_requests.request_events import RequestEvents
from hatbox.web_requests.request_lifecycle import AuthCredentials, RequestCancelled, RequestLifecycle, RequestRedirected
from hatbox.web_requests.request_model import (
    AuthChallenge,
    Headers,
    ProxyInfo,
    RequestBody,
    RequestFrame,
    RequestSnapshot,
)

__all__ = [
    "AuthChallenge",
    "AuthCredentials",
    "Headers",
    "ProxyInfo",
    "RequestBody",
    "RequestCancelled",
    "RequestEvents",
    "RequestFrame",
    "RequestLifecycle",
    "RequestRedirected",
    "RequestSnapshot",
]
