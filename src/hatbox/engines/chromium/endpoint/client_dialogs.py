"""Leaves the dialogs of a page in headless mode to the client that has opened it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import within
from hatbox.tasks import Tasks

__all__ = ["ClientDialogs"]

_POLL_SECONDS: Final = 0.5


class ClientDialogs:
    """The dialogs of one page. Without a listener, Playwright dismisses them at once, and a client is too late.

    When no client is connected any more, a dialog is dismissed: its page would wait for ever.
    """

    def __init__(self, page: Page, has_clients: Callable[[], bool], tasks: Tasks) -> None:
        self._has_clients = has_clients
        self._tasks = tasks
        self._latest: Dialog | None = None
        page.on("dialog", log_exceptions(self._on_dialog))

    def _on_dialog(self, dialog: Dialog) -> None:
        is_watched = self._latest is not None
        self._latest = dialog
        if not is_watched:
            self._tasks.spawn(self._dismiss_without_clients())

    async def _dismiss_without_clients(self) -> None:
        while self._has_clients():  # noqa: ASYNC110 - no event says that another session has closed the dialog
            await asyncio.sleep(_POLL_SECONDS)
        dialog, self._latest = self._latest, None
        if dialog is not None:
            with contextlib.suppress(PlaywrightError):  # a client has closed it
                await within(dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())
