"""The pages that clients of endpoints do not see, and those that they control. Shared by all parts of one engine."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Final

from hatbox.engines.chromium.endpoint.authorization import Authorization

__all__ = ["EndpointPages"]

_CREATION_SECONDS: Final = 2.0
_NAVIGATION_SECONDS: Final = 2.0
_NAVIGATION: Final = "navigation"
_INTERNAL: Final = ("chrome:", "chrome-extension:", "chrome-untrusted:", "devtools:", "file:", "view-source:")


class EndpointPages:
    """Pages by target id. A withheld page does not exist for clients until each reason is released."""

    def __init__(self) -> None:
        self._withheld: defaultdict[str, set[str]] = defaultdict(set)  # reasons by target id
        self._driven: set[str] = set()
        self._creating: Counter[str] = Counter()  # pages that clients are opening, by browserContextId
        self._created = asyncio.Event()
        self._listeners: list[Callable[[str, bool], None]] = []
        self.on_opened: Callable[[str, Authorization], None] = lambda _, __: None
        """Called with each page that a client opens, and the authorization of the client."""

    # ----------------------------------------------------------------------------------------------------- withholding

    @property
    def withheld(self) -> list[str]:
        """The ids of withheld pages."""
        return [*self._withheld]

    def withhold(self, target_id: str, reason: str) -> None:
        """Withhold a page from all clients, at once. Several reasons add up.

        With a browserContextId, the pages that appear in it until `release` are withheld: see ClientTargets.
        """
        is_new = target_id not in self._withheld
        self._withheld[target_id].add(reason)
        if is_new:
            self._notify(target_id, True)

    def release(self, target_id: str, reason: str) -> None:
        """End `withhold` for a reason. Without one, nothing happens."""
        reasons = self._withheld.get(target_id)
        if reasons is None:
            return
        reasons.discard(reason)
        if not reasons:
            del self._withheld[target_id]
            self._notify(target_id, False)

    def navigating(self, target_id: str, url: str) -> None:
        """A page starts to load a URL. It is withheld until the URL of the target says that it is an internal page."""
        if self._listeners and url.startswith(_INTERNAL):
            self.withhold(target_id, _NAVIGATION)
            asyncio.get_running_loop().call_later(_NAVIGATION_SECONDS, self.release, target_id, _NAVIGATION)

    def subscribe(self, listener: Callable[[str, bool], None]) -> None:
        """Call the listener with the id of each page that is withheld (True) or released (False) from now on."""
        self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[[str, bool], None]) -> None:
        """End `subscribe`."""
        self._listeners.remove(listener)

    def _notify(self, target_id: str, is_withheld: bool) -> None:
        for listener in [*self._listeners]:
            listener(target_id, is_withheld)

    # ---------------------------------------------------------------------------------------------------------- driven

    def drive(self, target_id: str) -> None:
        """A client controls this page from now on."""
        self._driven.add(target_id)

    def opened(self, target_id: str, authorization: Authorization) -> None:
        """A client has opened this page."""
        self.on_opened(target_id, authorization)

    def is_driven(self, target_id: str) -> bool:
        """Whether a client controls a page, as far as it is known now."""
        return target_id in self._driven

    def set_creating(self, context_id: str, *, is_pending: bool) -> None:
        """A client has requested a new page, or the request has ended."""
        self._creating[context_id] += 1 if is_pending else -1
        if self._creating[context_id] <= 0:
            del self._creating[context_id]
            self._created.set()

    async def controls(self, target_id: str, opener_id: str | None, context_id: str) -> bool:
        """Whether a client controls a page, or has opened it or its opener. Waits for pages that are being opened."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CREATION_SECONDS):
                while not self._includes(target_id, opener_id) and self._creating.get(context_id):
                    self._created.clear()
                    await self._created.wait()
        return self._includes(target_id, opener_id) or bool(self._creating.get(context_id))

    def remove(self, target_id: str) -> None:
        """A page is closed."""
        self._driven.discard(target_id)
        self._withheld.pop(target_id, None)

    def _includes(self, target_id: str, opener_id: str | None) -> bool:
        if opener_id in self._driven:
            self._driven.add(target_id)
        return target_id in self._driven
