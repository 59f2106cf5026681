"""The contract of an engine that injects content scripts: what the namespaces request, and what comes back.

An engine of this process that can inject scripts attaches a ContentScriptHost to the
ContentScriptRegistry. The permissions are checked here: the host calls `Injection.allows` for each frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from hatbox.extension_data.content_script import ContentScript, CssOrigin, RunAt, ScriptSource, World
from hatbox.extension_data.content_script_matching import FrameDocument
from hatbox.javascript.wire_codec import UNDEFINED

__all__ = ["ContentScriptHost", "FrameInfo", "FrameResult", "Injection", "InjectionError"]


class Injection(msgspec.Struct, frozen=True, kw_only=True):
    """What executeScript, insertCSS or removeCSS injects, and where."""

    extension_id: str
    tab_id: int
    allows: Callable[[FrameDocument], bool]
    """Whether the extension may inject this into a document. A frame that it refuses is skipped."""
    frame_ids: tuple[int, ...] | None = None
    """The frames. None: all frames, or those of `document_ids`."""
    document_ids: tuple[str, ...] | None = None
    sources: tuple[ScriptSource, ...]
    """Evaluated one after the other; the result is that of the last. `code` is a whole script."""
    run_at: RunAt = "document_idle"
    """The earliest time. Waits for documents that are still loading."""
    world: World = "ISOLATED"
    css_origin: CssOrigin = "author"


class InjectionError(msgspec.Struct, frozen=True):
    """The exception or rejection of a script in one frame."""

    message: str | None
    """The text of its `message`, None if it has none, such as a thrown string."""
    value: Any = UNDEFINED
    """The thrown value, decoded by `hatbox.javascript.wire_codec`."""


class FrameResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an injection in one frame."""

    frame_id: int
    document_id: str
    """The document id of the extension's context in this document (`sender.documentId`)."""
    value: Any = UNDEFINED
    """What the last source evaluated to, with a promise awaited, decoded by `hatbox.javascript.wire_codec`."""
    error: InjectionError | None = None
    is_clonable: bool = True
    """False if the value, or the thrown value, is not clonable; then it is UNDEFINED."""


class FrameInfo(NamedTuple):
    """A frame of a tab, for webNavigation.getAllFrames."""

    frame_id: int
    """0 for the main frame."""
    parent_frame_id: int
    """-1 for the main frame."""
    url: str


class ContentScriptHost(Protocol):
    """Injects content scripts into the pages of one engine of this process."""

    def has_tab(self, tab_id: int) -> bool:
        """Whether this engine shows the page of a tab now."""

    async def set_scripts(self, extension_id: str, scripts: Sequence[ContentScript]) -> None:
        """Replace the content scripts of an extension, in the order of injection; none when the extension has stopped.

        Returns when documents that load from now on get them. Documents that have loaded are not changed, except that
        with the first call for an extension the scripts also run in pages that are open, as in Firefox.
        """

    async def frames(self, tab_id: int) -> list[FrameInfo]:
        """The frames of a tab that it shows, by frame tree order. Raises ApiError if the page is not reachable."""

    async def execute(self, injection: Injection) -> list[FrameResult]:
        """Run scripts in the frames of a tab; a result for each frame that `allows` accepted, by frame tree order.

        Raises ApiError `Invalid frame IDs: [7, 9].` and `Invalid documentId: x` for frames that do not exist. A frame
        that goes away before its script has ended has no result. The error of a file that is not in the package has no
        message, and the value `Unable to load script: moz-extension://…`.
        """

    async def insert_css(self, injection: Injection) -> int:
        """Add style sheets to the documents of frames; the number of frames that `allows` accepted.

        Raises the same ApiErrors, and `An unexpected error occurred` for a file that is not in the package.
        """

    async def remove_css(self, injection: Injection) -> int:
        """Remove style sheets that insert_css() added with the same sources and origin. The same number."""
