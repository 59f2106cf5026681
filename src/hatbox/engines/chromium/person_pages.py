"""The pages in which a person does what a program requests, and those that they open. Programs do not see them.

They are no tabs of the profile, so neither the API nor the history has their URLs and titles.
"""

from __future__ import annotations

from typing import Final

from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.live_page import LivePage

__all__ = ["PersonPages", "bypass_service_workers"]

_PERSON: Final = "person"


class PersonPages:
    """The target ids of these pages. Each is withheld from clients of endpoints until it is closed."""

    def __init__(self, endpoint_pages: EndpointPages) -> None:
        self._endpoint_pages = endpoint_pages
        self._target_ids: set[str] = set()  # ids are not used again; closed pages may have opened others

    def add(self, target_id: str) -> None:
        """Withhold a page, from now on."""
        self._target_ids.add(target_id)
        self._endpoint_pages.withhold(target_id, _PERSON)

    def includes(self, target_id: str, opener_id: str | None = None) -> bool:
        """Whether a page is one of these, or was opened by one, and is one from now on."""
        if opener_id in self._target_ids and target_id not in self._target_ids:
            self.add(target_id)
        return target_id in self._target_ids


async def bypass_service_workers(page: LivePage) -> None:
    """Send the requests of a page to the network: a program could have installed a worker that reads passwords."""
    await page.session.send("Network.enable")
    await page.session.send("Network.setBypassServiceWorker", {"bypass": True})
