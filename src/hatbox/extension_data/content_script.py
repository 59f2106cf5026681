"""Content scripts as data, from the manifest or registered by an extension. Injects nothing."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

__all__ = ["ContentScript", "CssOrigin", "RunAt", "ScriptSource", "World"]

RunAt: TypeAlias = Literal["document_start", "document_end", "document_idle"]
World: TypeAlias = Literal["ISOLATED", "MAIN"]
CssOrigin: TypeAlias = Literal["author", "user"]


class ScriptSource(msgspec.Struct, frozen=True, omit_defaults=True):
    """JavaScript or CSS to inject: a file of the package (`js/content.js`), or else the code itself."""

    file: str = ""
    code: str = ""


class ContentScript(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A content script: what is injected, into which documents, and when."""

    matches: tuple[str, ...]
    exclude_matches: tuple[str, ...] = ()
    include_globs: tuple[str, ...] | None = None
    """The URL must match one of them too. None: no such condition; an empty list matches nothing, as in Firefox."""
    exclude_globs: tuple[str, ...] = ()
    js: tuple[ScriptSource, ...] = ()
    css: tuple[ScriptSource, ...] = ()
    css_origin: CssOrigin = "author"
    run_at: RunAt = "document_idle"
    world: World = "ISOLATED"
    all_frames: bool = False
    """Whether frames are included. Otherwise only the main frame."""
    match_about_blank: bool = False
    """Whether about:blank and about:srcdoc are included, by the URL of the document whose origin they inherit."""
    match_origin_as_fallback: bool = False
    """Whether about:, data: and blob: documents are included, by the URL of the document that created them."""
    check_permissions: bool = False
    """Whether the extension must have the host permission when the document loads."""
    cookie_store_ids: tuple[str, ...] | None = None
    """Only tabs of these cookie stores. None: all."""
    id: str = ""
    """The id that scripting.registerContentScripts was called with, or empty."""
    persist: bool = False
    """Whether it is stored in the profile (persistAcrossSessions)."""
