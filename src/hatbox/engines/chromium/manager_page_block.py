"""Keeps the manager page out of browser contexts in which a client of an endpoint is or was connected.

Such a client acts as every page of its context: it would use the session of the manager page, and with it all
identities. A navigation is aborted and shows no error page, which would have the URL with its token.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.urls.protected_pages import is_protected_url

__all__ = ["ManagerPageBlock"]

logger = logging.getLogger("hatbox.engines.chromium")


class ManagerPageBlock:
    """Decides about the paused requests of one browser."""

    def __init__(self, frames: FrameTree, programs: EndpointPages) -> None:
        self._frames = frames
        self._programs = programs

    async def refuses(self, event: Mapping[str, Any]) -> bool:
        """Whether a paused request must not be sent. One whose page is not known may be of a client."""
        if not self._programs.had_any_clients or not is_protected_url(event["request"]["url"]):
            return False
        path = await self._frames.wait_for_frame(event["frameId"])
        is_refused = path is None or self._programs.had_clients(path.target.context_id)
        if is_refused:
            logger.warning("the manager page is not loaded in an identity that is or was open for a program")
        return is_refused
