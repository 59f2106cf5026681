"""A hostile grantee calls every function of every schema with ids of another identity, and observes every event."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hatbox import HatboxError
from hatbox.api.browser import dispatcher_and_caller
from hatbox.api.events import ScriptEvent
from hatbox.api.granted_functions import GRANTED_EVENTS, GRANTED_SCHEMAS
from hatbox.errors import PermissionDenied
from hatbox.schema import load
from hatbox.schema.loader import resolved
from tests.api.caller import extension_browser
from tests.api.grantee import SECRET, Grantee, grantee
from tests.store.in_loop import in_loop
from tests.waiting import until

SITE = "https://app.site.example/"
VOLATILE = {"index", "active", "highlighted", "lastAccessed", "successorTabId"}


class Values:
    """Made-up values for a schema, which name what the attacker wants: ids of one identity and its tab."""

    def __init__(self, store: str, tab_id: int, window_id: int) -> None:
        self.store, self.tab_id, self.window_id = store, tab_id, window_id

    def of(self, name: str, schema: Mapping[str, Any], *, full: bool) -> Any:
        if "choices" in schema:
            return self.of(name, schema["choices"][-1 if full else 0], full=full)
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        if kind == "object":
            members = schema.get("properties", {})
            return {key: self.of(key, each, full=full) for key, each in members.items() if full or not _optional(each)}
        if kind == "array":
            return [self.of(name, schema.get("items", {"type": "string"}), full=full)]
        if kind in ("integer", "number"):
            return self.window_id if "window" in name.lower() else self.tab_id
        if kind == "boolean":
            return True
        if kind == "null":
            return None
        return self._text(name)

    def _text(self, name: str) -> str:
        lower = name.lower()
        if "store" in lower:
            return self.store
        return {"name": "session", "title": "*", "url": SITE, "urls": "<all_urls>", "color": "red", "icon": "pet"}.get(
            lower, SITE if "url" in lower else "*"
        )


def _optional(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("optional"))


def argument_lists(function: Mapping[str, Any], values: Values) -> Iterator[list[Any]]:
    """Argument lists: with all options, with none, and with each option alone."""
    parameters = [each for each in function.get("parameters", ()) if each.get("type") != "function"]
    yield [values.of(each["name"], each, full=True) for each in parameters]
    yield [None if _optional(each) else values.of(each["name"], each, full=False) for each in parameters]
    for position, parameter in enumerate(parameters):
        required = [values.of(each["name"], each, full=False) for each in parameters]
        if parameter.get("type") != "object":
            continue
        for key, each in parameter.get("properties", {}).items():
            chosen = {**required[position], key: values.of(key, each, full=True)}
            yield [*required[:position], chosen, *required[position + 1 :]]


async def attack(use: Grantee, values: Values) -> tuple[list[Any], list[str], int]:
    """Call everything. Returns the results, the messages of errors, and the number of calls."""
    results, messages, calls = [], [], 0
    dispatcher, caller = dispatcher_and_caller(use.browser)
    namespaces = {each.namespace for each in load() if each.file in GRANTED_SCHEMAS}
    for schema in load():
        for function in resolved(schema.file)["functions"]:
            for arguments in argument_lists(function, values):
                calls += 1
                try:
                    reply = dispatcher.call(caller, schema.namespace, function["name"], arguments)
                    results.append(await reply if reply is not None else None)
                except HatboxError as error:
                    messages.append(str(error))
                    assert isinstance(error, PermissionDenied) or schema.namespace in namespaces, schema.file
    return results, messages, calls


async def everything_of(use: Grantee, store: str) -> str:
    """What the profile stores of an identity, and what no identity owns."""
    extension = extension_browser(use.profile, ["bookmarks", "history"])
    tabs = await use.owner.tabs.query({"cookieStoreId": store})
    shown = [{key: value for key, value in each.items() if key not in VOLATILE} for each in tabs]
    return json.dumps(
        [
            shown,
            await use.owner.cookies.getAll({"storeId": store, "partitionKey": {}}),
            await use.owner.contextualIdentities.get(store),
            [each["cookieStoreId"] for each in await use.owner.contextualIdentities.query({})],
            str(await use.profile.identities.settings(store)),
            await extension.bookmarks.search({}),
            await extension.history.search({"text": "", "startTime": 0}),
        ],
        default=str,
    )


async def fill(use: Grantee) -> tuple[int, int]:
    """Markers in both identities and in the profile. Returns a tab of Work and one of Banking."""
    extension = extension_browser(use.profile, ["bookmarks", "history"])
    banking = await use.tab(use.banking, f"{SITE}{SECRET}", SECRET)
    await use.cookie(use.banking, SITE, "session", SECRET)
    await use.cookie(use.banking, SITE, SECRET, "1")
    await extension.bookmarks.create({"title": SECRET, "url": f"{SITE}{SECRET}"})
    await extension.history.addUrl({"url": f"{SITE}{SECRET}", "title": SECRET})
    await use.profile.identities.set_settings(use.banking, user_agent=SECRET)
    await use.cookie(use.work, SITE, "session", "mine")
    return await use.tab(use.work, SITE, "Mine"), banking


@in_loop
async def test_no_function_reveals_or_changes_another_identity(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        mine, theirs = await fill(use)
        window = (await use.owner.tabs.get(theirs))["windowId"]
        before = await everything_of(use, use.banking)
        assert before.count(SECRET) > 8
        total = 0
        for store, tab_id in ((use.banking, theirs), (use.work, theirs), (use.banking, mine), (use.work, mine)):
            results, messages, calls = await attack(use, Values(store, tab_id, window))
            total += calls
            assert SECRET not in str(messages)
            text = json.dumps(results, default=str)
            assert SECRET not in text and f'"{use.banking}"' not in text
            assert await everything_of(use, use.banking) == before
            assert len(results) > 50  # it can use its own identity
        assert total > 1000


@in_loop
async def test_no_event_reveals_another_identity(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        _, theirs = await fill(use)
        dispatcher, caller = dispatcher_and_caller(use.browser)
        received: list[Any] = []
        accepted = set()
        for schema in load():
            for event in schema.events.values():
                try:
                    ScriptEvent(dispatcher, caller, schema.namespace, event).addListener(
                        lambda *arguments: received.append(arguments)
                    )
                    accepted.add(f"{schema.namespace}.{event.name}")
                except HatboxError:
                    pass
        assert accepted == set(GRANTED_EVENTS)
        await use.owner.contextualIdentities.update(use.banking, {"name": f"{SECRET} 2"})
        await use.cookie(use.banking, SITE, "session", f"{SECRET} 2")
        await use.owner.tabs.update(theirs, {"muted": True, "active": True})
        await use.owner.tabs.remove(await use.tab(use.banking, SITE, SECRET))
        await use.profile.identities.create(f"{SECRET} 3")
        assert received == []
        await use.cookie(use.work, SITE, "session", "last")
        await until(lambda: received)
        assert received[-1][0]["cookie"]["value"] == "last"
        assert SECRET not in str(received) and use.banking not in str(received)
