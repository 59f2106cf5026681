"""A hostile grantee calls every function of every schema with ids of another identity, and observes every event."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

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
        functions = {each["name"]: each for each in resolved(schema.file)["functions"]}
        assert functions.keys() >= schema.functions.keys(), schema.file  # every function of every namespace is called
        for function in functions.values():
            for arguments in argument_lists(function, values):
                calls += 1
                try:
                    reply = dispatcher.call(caller, schema.namespace, function["name"], arguments)
                    results.append(await reply if reply is not None else None)
                except HatboxError as error:
                    messages.append(str(error))
                    assert isinstance(error, PermissionDenied) or schema.namespace in namespaces, schema.file
    return results, messages, calls


PERMISSIONS = ["alarms", "bookmarks", "cookies", "downloads", "history", "sessions", "storage", "tabs"]


async def everything_of(use: Grantee, store: str) -> str:
    """What the profile stores of an identity, and what no identity owns."""
    extension = extension_browser(use.profile, PERMISSIONS)
    tabs = await use.owner.tabs.query({"cookieStoreId": store})
    shown = [{key: value for key, value in each.items() if key not in VOLATILE} for each in tabs]
    return json.dumps(
        [
            shown,
            [await extension.sessions.getTabValue(each["id"], "marker") for each in tabs],
            await use.owner.cookies.getAll({"storeId": store, "partitionKey": {}}),
            await use.owner.contextualIdentities.get(store),
            [each["cookieStoreId"] for each in await use.owner.contextualIdentities.query({})],
            str(await use.profile.identities.settings(store)),
            str(await use.profile.trash.list()),
            str(await use.profile.rules.list()),
            str([each.id for each in await use.profile.grants.list()]),
            await extension.bookmarks.search({}),
            await extension.history.search({"text": "", "startTime": 0}),
            await extension.downloads.search({}),
            await extension.storage.local.get(None),
            await extension.storage.sync.get(None),
            await extension.storage.session.get(None),
            [each["name"] for each in await extension.alarms.getAll()],
        ],
        default=str,
    )


async def fill(use: Grantee) -> tuple[int, int]:
    """Markers in both identities and in the profile. Returns a tab of Work and one of Banking."""
    extension: Any = extension_browser(use.profile, PERMISSIONS)
    banking = await use.tab(use.banking, f"{SITE}{SECRET}", SECRET)
    await use.cookie(use.banking, SITE, "session", SECRET)
    await use.cookie(use.banking, SITE, SECRET, "1")
    await extension.sessions.setTabValue(banking, "marker", SECRET)
    await extension.bookmarks.create({"title": SECRET, "url": f"{SITE}{SECRET}"})
    await extension.history.addUrl({"url": f"{SITE}{SECRET}", "title": SECRET})
    for area in ("local", "sync", "session"):
        await getattr(extension.storage, area).set({SECRET: SECRET})
    extension.alarms.create(SECRET, {"delayInMinutes": 1000})
    await use.profile.identities.set_settings(use.banking, user_agent=SECRET)
    await use.profile.rules.add(f"{SECRET.lower()}.example", use.banking)
    removed = await use.profile.identities.create(f"{SECRET} removed")
    await use.profile.identities.remove(removed)
    use.profile.downloads.observe(f"{SITE}{SECRET}", Path(f"/nowhere/{SECRET}"), use.banking, _never)
    await use.cookie(use.work, SITE, "session", "mine")
    return await use.tab(use.work, SITE, "Mine"), banking


async def _never() -> None:
    raise AssertionError("a grantee has cancelled a download")


@pytest.mark.slow
@in_loop
async def test_no_function_reveals_or_changes_another_identity(tmp_path: Path) -> None:
    async with grantee(tmp_path) as use:
        mine, theirs = await fill(use)
        window = (await use.owner.tabs.get(theirs))["windowId"]
        before = await everything_of(use, use.banking)
        places = [str(each).upper() for each in json.loads(before)]
        assert sum(SECRET in each for each in places) == len(places) - 2  # all but the ids of identities and grants
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
        recorded = await use.profile.activity_log.query(grant=use.grant.id)
        assert sum(each.times for each in recorded) == total  # each of them, in few entries
        assert SECRET not in str(recorded) and use.banking not in {each.identity for each in recorded}


@in_loop
async def test_no_function_reveals_what_the_identity_has_on_other_hosts(tmp_path: Path) -> None:
    async with grantee(tmp_path, ["allowed.example"]) as use:
        tab_id = await use.tab(use.work, f"{SITE}{SECRET}", SECRET)
        await use.cookie(use.work, SITE, "session", SECRET)
        partition: Any = {"partitionKey": {"topLevelSite": SITE}, "secure": True, "sameSite": "no_restriction"}
        await use.cookie(use.work, "https://allowed.example/", "session", SECRET, **partition)
        before = await everything_of(use, use.work)
        window = (await use.owner.tabs.get(tab_id))["windowId"]
        results, messages, _ = await attack(use, Values(use.work, tab_id, window))
        assert SECRET not in json.dumps(results, default=str) + str(messages)
        assert len(results) > 10  # it can use its identity
        after = json.loads(await everything_of(use, use.work))
        for shown, was in zip(after, json.loads(before), strict=True):
            assert str(shown).count(SECRET) == str(was).count(SECRET)


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
