"""Permissions that come and go while an extension runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import hatbox
from hatbox import Profile
from hatbox.extension_data import granted_permissions as granted
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extensions.extension import Extension
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno

OPTIONAL = ["cookies", "contextualIdentities", "https://*.site.example/*"]
LISTEN = """
globalThis.told = [];
for (const name of ["onAdded", "onRemoved"]) {
  browser.permissions[name].addListener(permissions => { told.push([name, permissions, typeof browser.cookies]); });
}
"""


def asked(answer: bool) -> tuple[list[Permissions], Callable[[Permissions], Any]]:
    """A permission prompt that always answers the same, and its questions."""
    questions: list[Permissions] = []

    async def decide(wanted: Permissions) -> bool:
        questions.append(wanted)
        return answer

    return questions, decide


async def request(extension: Extension, wanted: Mapping[str, Any]) -> Any:
    """What its scripts are answered, or the message of the error."""
    call = f"browser.permissions.request({json.dumps(wanted)})"
    return await extension.evaluate(f"try {{ return await {call} }} catch (error) {{ return error.message }}")


def told(*permissions: str, origins: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"permissions": list(permissions), "origins": list(origins), "data_collection": []}


@needs_deno
def test_nothing_is_given_without_the_user_or_without_anybody_to_ask(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        refused = "permissions.request may only be called from a user input handler"
        assert await request(extension, {"permissions": ["cookies"]}) == refused
        extension.caller.is_handling_user_input = True
        assert await request(extension, {"permissions": ["cookies"]}) is False
        assert await extension.evaluate("[typeof browser.cookies, told]") == ["undefined", []]

    run_made(tmp_path, use, LISTEN, optional_permissions=OPTIONAL)


@needs_deno
def test_what_is_given_is_there_when_the_call_resolves_and_when_it_is_told(tmp_path: Path) -> None:
    questions, decide = asked(True)

    async def use(_: Profile, extension: Extension) -> None:
        extension.caller.is_handling_user_input = True
        wanted = "{permissions: ['cookies'], origins: ['https://a.site.example/page']}"
        given = await extension.evaluate(
            f"const answer = await browser.permissions.request({wanted}); return [answer, typeof browser.cookies]"
        )
        assert given == [True, "object"]
        assert questions == [Permissions(("cookies",), ("https://a.site.example/page",))]
        added = told("cookies", origins=("https://a.site.example/*",))
        assert await extension.evaluate("told") == [["onAdded", added, "object"]]
        assert await extension.evaluate("browser.permissions.getAll()") == {
            "origins": ["https://a.site.example/*"],
            "data_collection": [],
            "permissions": ["cookies"],
        }
        assert await extension.evaluate(f"browser.permissions.request({wanted})") is True
        assert len(questions) == 1  # no prompt for granted permissions

    run_made(tmp_path, use, LISTEN, optional_permissions=OPTIONAL, start={"decide": decide})


@needs_deno
def test_what_is_given_back_is_gone(tmp_path: Path) -> None:
    _, decide = asked(True)

    async def use(_: Profile, extension: Extension) -> None:
        extension.caller.is_handling_user_input = True
        await extension.evaluate("browser.permissions.request({permissions: ['cookies']})")
        removed = await extension.evaluate(
            "const answer = await browser.permissions.remove({permissions: ['cookies', 'tabs']});"
            "return [answer, typeof browser.cookies, typeof browser.tabs.query]"
        )
        assert removed == [True, "undefined", "function"]
        assert await extension.evaluate("told[1]") == ["onRemoved", told("cookies"), "undefined"]
        assert await extension.evaluate("browser.permissions.contains({permissions: ['tabs']})") is True
        assert await extension.evaluate("browser.permissions.contains({permissions: ['cookies']})") is False

    run_made(tmp_path, use, LISTEN, permissions=["tabs"], optional_permissions=OPTIONAL, start={"decide": decide})


@needs_deno
def test_what_was_not_declared_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    questions, decide = asked(True)

    async def use(_: Profile, extension: Extension) -> None:
        extension.caller.is_handling_user_input = True
        refused = "Cannot request permission history since it was not declared in optional_permissions"
        assert await request(extension, {"permissions": ["history"]}) == refused
        other = "https://other.example/*"
        refused = f"Cannot request origin permission for {other} since it was not declared in the manifest"
        assert await request(extension, {"origins": [other]}) == refused
        assert questions == []

    run_made(tmp_path, use, LISTEN, optional_permissions=OPTIONAL, start={"decide": decide})


@needs_deno
def test_a_no_gives_nothing(tmp_path: Path) -> None:
    questions, decide = asked(False)

    async def use(_: Profile, extension: Extension) -> None:
        extension.caller.is_handling_user_input = True
        assert await request(extension, {"permissions": ["cookies"]}) is False
        assert len(questions) == 1
        assert await extension.evaluate("[typeof browser.cookies, told]") == ["undefined", []]

    run_made(tmp_path, use, LISTEN, optional_permissions=OPTIONAL, start={"decide": decide})


@needs_deno
def test_what_another_process_gives_and_takes_changes_the_extension_that_runs(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        heard: asyncio.Queue[Any] = asyncio.Queue()
        for event in (extension.browser.permissions.onAdded, extension.browser.permissions.onRemoved):
            event.addListener(heard.put_nowait)
        async with hatbox.open(profile.address) as other:
            cookies = Permissions(("cookies",))
            await other.store.write(lambda each: granted.grant(each, extension.area, cookies))
            assert await heard.get() == told("cookies")
            assert await extension.evaluate("typeof browser.cookies") == "object"
            await other.store.write(lambda each: granted.revoke(each, extension.area, cookies))
            assert await heard.get() == told("cookies")
            assert await extension.evaluate("[typeof browser.cookies, told.length]") == ["undefined", 2]

    run_made(tmp_path, use, LISTEN, optional_permissions=OPTIONAL)


@needs_deno
def test_what_was_given_is_there_the_next_time(tmp_path: Path) -> None:
    _, decide = asked(True)

    async def main() -> None:
        folder = make(tmp_path, LISTEN, optional_permissions=OPTIONAL)
        async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
            extension = await profile.extensions.start(folder, decide=decide)
            extension.caller.is_handling_user_input = True
            await request(extension, {"permissions": ["cookies"]})
            await profile.extensions.stop(extension)
            extension = await profile.extensions.start(folder)
            assert await extension.evaluate("[typeof browser.cookies, told]") == ["object", []]

    asyncio.run(main())


def test_only_a_difference_is_told(tmp_path: Path) -> None:
    async def main() -> None:
        async with asyncio.timeout(30), hatbox.open(tmp_path / "profile.db") as profile:
            topics: list[str] = []
            profile.store.subscribe(lambda change: topics.append(change.topic))
            for work in (granted.grant, granted.grant, granted.revoke, granted.revoke):
                await profile.store.write(partial(work, extension="a@b", permissions=Permissions(("tabs",))))
            assert topics == [granted.ADDED, granted.REMOVED]

    asyncio.run(main())
