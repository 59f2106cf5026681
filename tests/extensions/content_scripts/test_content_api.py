"""The part of the API that content scripts have."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hatbox.api.dispatcher import Dispatcher
from hatbox.errors import ApiError
from hatbox.extensions.content_scripts.content_api import ContentScriptApi
from hatbox.extensions.runtime.host import Listener


class _Everything:
    """A dispatcher that allows all calls."""

    def call(self, caller: object, namespace: str, member: str, arguments: list[Any]) -> None:
        """Do nothing."""


class _AnyListener:
    def __init__(self, path: str) -> None:
        self.path = path


def _api() -> ContentScriptApi:
    dispatcher: Dispatcher = _Everything()  # type: ignore[assignment]
    caller: Any = SimpleNamespace()
    grant: Any = None
    return ContentScriptApi(dispatcher, caller, lambda _: None, None, grant)


@pytest.mark.parametrize(
    "path", ["storage.local.get", "i18n.getMessage", "runtime.sendMessage", "ports.open", "ports.post"]
)
def test_content_scripts_call_their_part_of_the_api(path: str) -> None:
    namespace, _, member = path.rpartition(".")
    assert _api().call(namespace, member, []) is None


@pytest.mark.parametrize("path", ["ports.openNative", "ports.openFilter"])
def test_content_scripts_connect_neither_to_native_applications_nor_to_responses(path: str) -> None:
    namespace, _, member = path.rpartition(".")
    with pytest.raises(ApiError, match="is not available in content scripts"):
        _api().call(namespace, member, [])


@pytest.mark.parametrize(
    "path", ["tabs.query", "cookies.getAll", "runtime.reload", "runtime.getContexts", "storage.session.get", "x.y"]
)
def test_content_scripts_cannot_call_the_rest(path: str) -> None:
    namespace, _, member = path.rpartition(".")
    with pytest.raises(ApiError, match="is not available in content scripts"):
        _api().call(namespace, member, [])


@pytest.mark.parametrize("path", ["tabs.onCreated", "runtime.onInstalled", "storage.session.onChanged"])
def test_content_scripts_cannot_listen_to_the_rest(path: str) -> None:
    listener: Listener = _AnyListener(path)  # type: ignore[assignment]
    with pytest.raises(ApiError, match="is not available in content scripts"):
        _api().add_listener(listener, [])
