"""A ContentScriptHost without a browser: records what it is asked for, and answers as a test says."""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.api.content_script_host import FrameInfo, FrameResult, Injection
from hatbox.errors import ApiError
from hatbox.extension_data.content_script import ContentScript
from hatbox.extension_data.content_script_matching import FrameDocument

__all__ = ["FakeScriptHost"]


class FakeScriptHost:
    """Shows every tab. Its documents are those of `documents`, by frame id."""

    def __init__(self, url: str = "https://site.example/") -> None:
        self.scripts: dict[str, list[ContentScript]] = {}
        self.injections: list[Injection] = []
        self.results: list[FrameResult] | None = None
        self.documents = {
            0: FrameDocument(url=url, top_url=url, is_top=True, cookie_store_id="firefox-default"),
        }

    def has_tab(self, tab_id: int) -> bool:
        return tab_id >= 0

    async def set_scripts(self, extension_id: str, scripts: Sequence[ContentScript]) -> None:
        self.scripts[extension_id] = list(scripts)

    async def frames(self, tab_id: int) -> list[FrameInfo]:
        return [FrameInfo(frame, 0 if frame else -1, document.url) for frame, document in self.documents.items()]

    async def execute(self, injection: Injection) -> list[FrameResult]:
        frames = self._frames(injection)
        if self.results is not None:
            return self.results
        return [FrameResult(frame_id=frame, document_id="d", value=injection.sources[-1].code) for frame in frames]

    async def insert_css(self, injection: Injection) -> int:
        return len(self._frames(injection))

    async def remove_css(self, injection: Injection) -> int:
        return len(self._frames(injection))

    def _frames(self, injection: Injection) -> list[int]:
        self.injections.append(injection)
        wanted = self.documents if injection.frame_ids is None else injection.frame_ids
        if missing := [frame for frame in wanted if frame not in self.documents]:
            raise ApiError(f"Invalid frame IDs: [{', '.join(map(str, missing))}].")
        return [frame for frame in wanted if injection.allows(self.documents[frame])]
