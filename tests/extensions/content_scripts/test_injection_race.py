"""A frame that loads another document while scripts or style sheets are injected into it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from hatbox.api.content_script_host import Injection
from hatbox.extension_data.content_script import ScriptSource
from hatbox.extensions.content_scripts.frame_injections import FrameInjections
from hatbox.extensions.content_scripts.page_frames import PageFrame, PageFrames

ALLOWED = "https://site.example/"
OTHER = "https://bank.example/"
CODE = "steal()"


class _Session:
    """A session of a frame that loads OTHER when the command `navigates_at` arrives, before that is handled."""

    id, parent_id, opener_id, target_id, url = "session", None, None, "frame", ALLOWED

    def __init__(self, navigates_at: str) -> None:
        self.frames = PageFrames()
        self.sent: list[str] = []
        self._navigates_at = navigates_at
        self._contexts = 0
        self.frames.attach(self, None)  # type: ignore[arg-type]
        self._load(ALLOWED)

    @property
    def frame(self) -> PageFrame:
        found = self.frames.get("frame")
        assert found is not None
        return found

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        params = params or {}
        self.sent.append(str(params.get("expression") or params.get("text")))
        if self._navigates_at in (method, params.get("expression")):
            self._load(OTHER)
        if method == "Page.createIsolatedWorld":
            self._add_context("world")
        return {"styleSheetId": "1", "result": {"value": 1}}

    def _load(self, url: str) -> None:
        self._emit("Runtime.executionContextsCleared", {})
        self._emit("Page.frameNavigated", {"frame": {"id": "frame", "url": url}})
        self._add_context("")

    def _add_context(self, world: str) -> None:
        self._contexts += 1
        details = {"frameId": "frame", "isDefault": world == ""}
        context = {
            "id": self._contexts,
            "uniqueId": str(self._contexts),
            "name": world,
            "origin": "",
            "auxData": details,
        }
        self._emit("Runtime.executionContextCreated", {"context": context})

    def _emit(self, name: str, event: dict[str, Any]) -> None:
        self.frames.on_event(self, name, event)  # type: ignore[arg-type]


def _injections(session: _Session) -> FrameInjections:
    bridge = SimpleNamespace(extension_context=SimpleNamespace(document_id="1"))
    return FrameInjections(
        lambda *_: bridge,  # type: ignore[arg-type]
        lambda frame, injection: injection.allows(session.frames.document(frame, "")),
    )


def _world() -> Any:
    names = SimpleNamespace(world="world", runner="runner", binding="binding")
    return SimpleNamespace(
        names=names, empty_runner=lambda: "", text=lambda _: CODE, style_text=lambda _: CODE, url=lambda _: "x.js"
    )


def _injection(world: Literal["ISOLATED", "MAIN"] = "ISOLATED") -> Injection:
    return Injection(
        extension_id="a@b",
        tab_id=1,
        allows=lambda document: document.url == ALLOWED,
        sources=(ScriptSource(code=CODE),),
        world=world,
    )


@pytest.mark.parametrize("world", ["ISOLATED", "MAIN"])
@pytest.mark.parametrize("navigates_at", ["Page.createIsolatedWorld", 'this["runner"].ready("document_idle")', "never"])
def test_a_script_runs_only_in_a_document_that_is_allowed(
    navigates_at: str, world: Literal["ISOLATED", "MAIN"]
) -> None:
    session = _Session(navigates_at)
    asyncio.run(_injections(session).execute(_world(), [session.frame], _injection(world)))
    assert any(each.startswith(CODE) for each in session.sent) == (navigates_at == "never")


@pytest.mark.parametrize("navigates_at", ["CSS.enable", "CSS.createStyleSheet", "never"])
def test_a_style_sheet_is_set_only_in_a_document_that_is_allowed(navigates_at: str) -> None:
    session = _Session(navigates_at)
    asyncio.run(_injections(session).insert_css(_world(), [session.frame], _injection()))
    assert (CODE in session.sent) == (navigates_at == "never")
