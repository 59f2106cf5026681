"""What the page does when the answer of a change is lost, and with moves and toasts that the user leaves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hatbox.errors import IdentityNotFound, TooLargeForTrash, TrashSwitchedOff
from hatbox.ui.page_calls import DONE
from tests.ui.identities_page import IdentitiesPage
from tests.ui.manager import Manager
from tests.ui.static_modules import value_of

if TYPE_CHECKING:
    from playwright.async_api import Page

DEFAULT = ("Personal", "Work", "Banking", "Shopping")
ONLY_UNDO = """async () => {
    const [{changed, undoLast}, {toast}] = [await import("./undo.js"), await import("./toasts.js")];
    const log = [];
    const while_toast = {while_toast: true, onExpire: () => log.push("forgotten")};
    changed("Deleted 3 cookies.", async () => log.push("cookies are back"), while_toast);
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

    def relay(socket: Any) -> None:
        server = socket.connect_to_server()
        server.on_message(lambda text: socket.send(_without_answer(text)))

    await manager_page.route_web_socket("**", relay)
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


def _without_answer(text: Any) -> Any:
    """The text of the server, with the error that replaces the answer of a creation after the server was killed."""
    frame = json.loads(text)
    for message in frame[2] if isinstance(frame, list) else ():
        if message[0] == "r" and isinstance(message[3], dict) and message[3].get("name") == "Lost":
            message[2:] = [False, DONE]
    return json.dumps(frame)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TrashSwitchedOff("too large --trash-bytes"), "The trash of this profile is switched off."),
        (TooLargeForTrash("switched off", "firefox-container-1", 9, 5), "It is too large for the trash."),
        (IdentityNotFound("Remove it for ever, --trash-days"), None),
    ],
)
def test_the_reason_why_an_identity_has_no_place_in_the_trash_is_not_read_from_its_name(
    error: Exception, reason: str | None
) -> None:
    body = f"return foreverReason({json.dumps(str(error))});"
    assert value_of("removal_words.js", "foreverReason", body) == reason
