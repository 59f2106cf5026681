from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError, ArgumentError, PermissionDenied, Profile
from hatbox.api.caller import Caller
from hatbox.api.dispatcher import Dispatcher

LOWER = "contextualidentities"
CAMEL = "contextualIdentities"


def with_dispatcher(tmp_path: Path, use: Callable[[Profile, Dispatcher], Awaitable[None]]) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile, profile._dispatcher)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("permissions", "visible"),
    [
        ([], []),
        (["cookies"], ["cookies"]),
        (["<all_urls>"], []),
        ([LOWER], [CAMEL, LOWER]),
        ([CAMEL], [CAMEL]),
        ([LOWER, CAMEL], [CAMEL, LOWER]),
    ],
)
def test_a_caller_sees_the_namespaces_that_its_permissions_open(
    tmp_path: Path, permissions: list[str], visible: list[str]
) -> None:
    async def use(_: Profile, dispatcher: Dispatcher) -> None:
        assert dispatcher.visible(Caller("test", permissions)) == [*visible, "tabs", "windows"]

    with_dispatcher(tmp_path, use)


def test_a_direct_call_without_the_permission_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async def use(profile: Profile, dispatcher: Dispatcher) -> None:
        before = await profile.identities.query()
        details = {"name": "Sneaky", "color": "red", "icon": "fence"}
        with pytest.raises(PermissionDenied, match="contextualIdentities needs the permission"):
            dispatcher.call(Caller("sneaky"), CAMEL, "create", [details])
        with pytest.raises(PermissionDenied, match="There is no namespace readingList"):
            dispatcher.call(Caller("sneaky"), "readingList", "create", [details])
        assert await profile.identities.query() == before

    with_dispatcher(tmp_path, use)


def test_the_permission_is_checked_before_the_arguments(tmp_path: Path) -> None:
    async def use(_: Profile, dispatcher: Dispatcher) -> None:
        with pytest.raises(PermissionDenied):
            dispatcher.call(Caller("sneaky"), CAMEL, "get", [1, 2, 3])
        with pytest.raises(ArgumentError):
            dispatcher.call(Caller("honest", [CAMEL]), CAMEL, "get", [1, 2, 3])

    with_dispatcher(tmp_path, use)


@pytest.mark.parametrize("member", ["nothing", "_read", "call", "schema", "__init__", ""])
def test_only_what_the_schema_names_can_be_called(tmp_path: Path, member: str) -> None:
    async def use(_: Profile, dispatcher: Dispatcher) -> None:
        with pytest.raises(ApiError, match="is not a function"):
            dispatcher.call(Caller("test", [CAMEL]), CAMEL, member, [])

    with_dispatcher(tmp_path, use)


def test_variant_b_does_not_get_what_only_the_schema_of_firefox_has(tmp_path: Path) -> None:
    async def use(_: Profile, dispatcher: Dispatcher) -> None:
        for member in ("move", "getSupportedColors", "getSupportedIcons"):
            with pytest.raises(ApiError, match=f"^contextualIdentities.{member} is not a function$"):
                dispatcher.call(Caller("test", [LOWER]), CAMEL, member, [])

    with_dispatcher(tmp_path, use)


def test_a_permission_can_be_granted_and_revoked_while_the_caller_lives(tmp_path: Path) -> None:
    async def use(profile: Profile, dispatcher: Dispatcher) -> None:
        caller = Caller("test")
        assert dispatcher.namespace(caller, CAMEL) is None
        caller.permissions.add(CAMEL)
        answer: Any = await dispatcher.call(caller, CAMEL, "get", ["firefox-container-2"])  # type: ignore[misc]
        assert answer["name"] == "Work"
        caller.permissions.discard(CAMEL)
        with pytest.raises(PermissionDenied):
            dispatcher.call(caller, CAMEL, "get", ["firefox-container-2"])

    with_dispatcher(tmp_path, use)
