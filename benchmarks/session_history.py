"""Finds requests that were sent with an old session, although a newer one was durable before they started.

Several responses for one identity may be on their way at once, and any of them may be committed last. So a token is
only known to be old if its response was finished before the site has issued another token, which was finished before
the request started. Pure: reads no clock and no profile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate
from math import inf
from typing import NamedTuple

__all__ = ["Request", "stale_requests"]


class Request(NamedTuple):
    """One request and its response. Times are of one clock."""

    identity: str
    sent: str
    """The token of its Cookie header; empty without one."""
    issued: str
    """The token that the response has set."""
    started: float
    issued_at: float
    finished: float
    """When the call had returned: from then on the issued token is durable."""


def stale_requests(requests: Iterable[Request]) -> list[Request]:
    """The requests with a token that is known to be replaced before they started."""
    by_identity: dict[str, list[Request]] = defaultdict(list)
    for request in requests:
        by_identity[request.identity].append(request)
    return [request for group in by_identity.values() for request in _stale_in(group)]


def _stale_in(requests: list[Request]) -> list[Request]:
    finished_at = {request.issued: request.finished for request in requests}
    in_order = sorted(requests, key=lambda request: request.finished)
    times = [request.finished for request in in_order]
    latest_issue = list(accumulate((request.issued_at for request in in_order), max))

    def is_stale(request: Request) -> bool:
        durable = bisect_left(times, request.started)  # so many were finished before it started
        sent_until = finished_at.get(request.sent, inf) if request.sent else -inf
        return durable > 0 and sent_until < latest_issue[durable - 1]

    return [request for request in requests if is_stale(request)]
