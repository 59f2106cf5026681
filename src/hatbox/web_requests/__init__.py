"""The requests that pages make, and what listeners have to say about each. Knows neither engines nor namespaces."""

from hatbox.web_requests.request_events import Requests
from hatbox.web_requests.request_lifecycle import Credentials, Exchange, Redirected, RequestCancelled
from hatbox.web_requests.request_model import Body, Challenge, Headers, RequestSnapshot, Place, Proxy

__all__ = [
    "Body",
    "Challenge",
    "Credentials",
    "Exchange",
    "Headers",
    "RequestSnapshot",
    "Place",
    "Proxy",
    "Redirected",
    "RequestCancelled",
    "Requests",
]
