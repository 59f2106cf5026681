"""What the page does when the answer of a change is lost, and with moves and toasts that the user leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import platformdirs
import pytest

from hatbox.errors import HatboxError, IdentityNotFound, TooLargeForTrash, TrashSwitchedOff
from hatbox.ui.page_calls import DONE
from tests.ui.identities_page import IdentitiesPage
from tests.ui.manager import Manager
from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno

if TYPE_CHECKING:
    from playwright.async_api import Page

DEFAULT = ("Personal", "Work", "Banking", "Shopping")
ONLY_UNDO = """async () => {
    const [{changed, undoLast}, {toast}] = [await import("./undo.js"), await import("./toasts.js")];
    const log = [];
    const whileToast = {whileToast: true, onExpire: () => log.push("forgotten")};
    changed("Deleted 3 cookies.", async () => log.push("cookies are back"), whileToast);
    changed("Moved.", async () => log.push("moved back"), {quiet: true});
    await undoLast();
    toast("Connected again.");
    const texts = [...document.querySelectorAll(".toast")].map((each) => each.textContent);
    log.push(texts.some((text) => text.startsWith("Deleted 3 cookies.")));
    await undoLast();
    return log;
}"""


async def test_a_change_whose_answer_is_lost_is_reported_as_done_and_not_sent_again(
    manager: Manager, manager_page: Page
) -> None:
    screen, keys = IdentitiesPage(manager_page), manager_page.keyboard

    await manager_page.route_web_socket("**", _LostAnswers().relay)
    await manager_page.reload()
    await screen.wait_for_names(*DEFAULT)
    await keys.press("n")
    await manager_page.get_by_role("textbox", name="Name").fill("Lost")
    await keys.press("Enter")
    await screen.wait_for_toast("Lost created.")
    await manager_page.locator("dialog").wait_for(state="detached")
    await screen.wait_for_names(*DEFAULT, "Lost")
    assert await manager_page.get_by_role("button", name="Undo").count() == 0
    assert len(await manager.profile.identities.query()) == 5
    # a lifted card that loses the focus is not moved, and a search does not let Alt+Left leave the page
    await screen.focus("Work", "grip")
    await keys.press(" ")
    await screen.wait_for_announcement("Work lifted")
    await keys.press("ArrowRight")
    await screen.focus("Personal")
    await screen.wait_for_announcement("Move cancelled")
    await screen.wait_for_names(*DEFAULT, "Lost")
    await manager_page.get_by_role("searchbox").fill("work")
    await screen.focus("Work")
    await keys.press("Alt+ArrowLeft")
    await screen.wait_for_announcement("Clear the search to move it.")
    assert await manager_page.evaluate(ONLY_UNDO) == ["moved back", True, "cookies are back"]


async def test_deletions_backups_and_settings_whose_answers_are_lost_show_no_error(
    manager: Manager, manager_page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))  # for profiles without a folder
    profile, page, screen = manager.profile, manager_page, IdentitiesPage(manager_page)
    await profile.identities.remove("Banking")
    await page.route_web_socket("**", _LostAnswers().relay)
    await page.goto(f"{manager.url}#/trash")
    await page.reload()
    await page.get_by_role("button", name="Back up now").click()
    await screen.wait_for_toast("Backup written.")
    await page.get_by_role("button", name="Empty trash").click()
    await page.get_by_role("dialog").get_by_role("button", name="Empty trash").click()
    await screen.wait_for_toast("Trash emptied.")
    await profile.identities.remove("Shopping", forever=True)
    await page.get_by_role("button", name="Restore from").click()
    await page.get_by_role("dialog").get_by_role("button", name="Restore 1 identity").click()
    await screen.wait_for_toast("Restored from ")
    await page.goto(f"{manager.url}#/identity/firefox-container-2/settings")
    await page.get_by_label("Locale").fill("de-DE")
    await page.get_by_role("button", name="Save settings").click()
    await screen.wait_for_toast("Settings of Work saved.")
    assert await page.get_by_role("button", name="Save settings").is_disabled()
    assert (await profile.identities.settings("Work")).locale == "de-DE"
    await page.get_by_role("button", name="Undo").click()
    await screen.wait_for_announcement("Undone")
    assert (await profile.identities.settings("Work")).locale is None
    assert await page.locator(".error, [role=alert]").count() == 0


class _LostAnswers:
    """A connection on which changes are answered as after a server was killed: they were done, the result is lost."""

    _PATHS: Final = (
        "contextualIdentities.create",
        "hatbox.archives.backup",
        "hatbox.archives.restore",
        "hatbox.identities.setSettings",
        "hatbox.trash.empty",
    )

    def __init__(self) -> None:
        self._calls: set[int] = set()

    def relay(self, socket: Any) -> None:
        """Handle a WebSocket of the page."""
        server = socket.connect_to_server()
        socket.on_message(lambda text: server.send(self._noted(text)))
        server.on_message(lambda text: socket.send(self._without_answers(text)))

    def _noted(self, text: Any) -> Any:
        frame = json.loads(text)
        messages = frame[2] if isinstance(frame, list) else ()
        self._calls.update(each[1] for each in messages if each[0] == "c" and each[2] in self._PATHS)
        return text

    def _without_answers(self, text: Any) -> Any:
        frame = json.loads(text)
        for message in frame[2] if isinstance(frame, list) else ():
            if message[0] == "r" and message[1] in self._calls:
                message[2:] = [False, DONE]
        return json.dumps(frame)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TrashSwitchedOff, "The trash of this profile is switched off."),
        (TooLargeForTrash, "It is too large for the trash."),
        (IdentityNotFound, None),
    ],
)
def test_the_reason_why_an_identity_has_no_place_in_the_trash_is_known_by_the_class_of_the_error(
    error: type[HatboxError], reason: str | None
) -> None:
    body = f"return foreverReason({{kind: {json.dumps(error.__name__)}}});"
    assert value_of("removal_words.js", "foreverReason", body) == reason
