"""The entries of `content_scripts` in a manifest, whose keys the schema has checked, as content scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extensions.package.extension_urls import file_name

__all__ = ["content_script_of"]


def content_script_of(entry: Mapping[str, Any], manifest_version: int) -> ContentScript:
    """The content script of an entry. With version 3 it also needs the host permission, which the user may revoke."""
    globs = entry["include_globs"]
    fallback = entry["match_origin_as_fallback"]
    return ContentScript(
        matches=tuple(entry["matches"]),
        exclude_matches=tuple(entry["exclude_matches"] or ()),
        include_globs=None if globs is None else tuple(globs),
        exclude_globs=tuple(entry["exclude_globs"] or ()),
        js=_files(entry["js"]),
        css=_files(entry["css"]),
        css_origin=entry["css_origin"],
        run_at=entry["run_at"],
        world=entry["world"],
        all_frames=bool(entry["all_frames"]),
        # Firefox ignores match_about_blank if match_origin_as_fallback is set, even to false.
        match_about_blank=fallback is None and bool(entry["match_about_blank"]),
        match_origin_as_fallback=bool(fallback),
        check_permissions=manifest_version > 2,
    )


def _files(urls: list[str] | None) -> tuple[ScriptSource, ...]:
    return tuple(ScriptSource(file=file_name(url)) for url in urls or ())
