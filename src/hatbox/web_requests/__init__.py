"""The requests that pages make, and what listeners have to say about each. Knows neither engines nor namespaces."""

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
