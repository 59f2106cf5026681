"""The requests that pages make, and what listeners have to say about each. Knows neither engines nor namespaces."""

from hatbox.web_requests.exchange import Credentials, Exchange, Redirected, RequestCancelled
from hatbox.web_requests.model import Body, Challenge, Headers, Moment, Place, Proxy
from hatbox.web_requests.service import Requests

__all__ = [
    "Body",
    "Challenge",
    "Credentials",
    "Exchange",
    "Headers",
    "Moment",
    "Place",
    "Proxy",
    "Redirected",
    "RequestCancelled",
    "Requests",
]
