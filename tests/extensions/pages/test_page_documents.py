"""The scripts that PageDocuments adds to a page. No browser."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from hatbox.extensions.pages.page_documents import PageDocuments


class _Session:
    """A page with the scripts that are added to its documents."""

    def __init__(self) -> None:
        self.scripts = {"first": ""}
        self._numbers = count()

    async def send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        if method == "Page.removeScriptToEvaluateOnNewDocument":
            self.scripts.pop(params["identifier"], None)
            return {}
        identifier = str(next(self._numbers))
        self.scripts[identifier] = params["source"]
        return {"identifier": identifier}


def test_two_changes_of_permissions_at_once_leave_the_last_script(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = iter(["second", "third"])
    monkeypatch.setattr(PageDocuments, "_source", lambda _: next(sources))

    async def main() -> None:
        session: Any = _Session()
        nothing: Any = None
        documents = PageDocuments(nothing, session, nothing, nothing, nothing, kind="TAB")
        documents._script_id = "first"
        documents.permissions_changed()
        documents.permissions_changed()
        await documents._tasks.wait()
        assert [*session.scripts.values()] == ["third"]

    asyncio.run(main())
