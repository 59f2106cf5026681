"""scripting.registerContentScripts and its related functions. Error messages match Firefox."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hatbox.api.caller import ExtensionCaller
from hatbox.api.content_script_registry import ScriptKey
from hatbox.api.package_paths import package_path
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extension_data.registered_scripts import save_all
from hatbox.urls.match_patterns import parse_match_pattern

__all__ = ["KEY", "RegisteredContentScripts"]

KEY: Final = "scripting"
"""The first part of the keys of these scripts in the registry. The second is their id."""

_Scripts = dict[str, ContentScript]  # by id, in the order of registration


class RegisteredContentScripts:
    """Registers, updates and unregisters the content scripts of extensions. Each call does all or nothing."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._registry = services.content_scripts

    async def register(self, caller: ExtensionCaller, scripts: Sequence[Mapping[str, Any]]) -> None:
        """Register scripts with new ids."""

        def add(known: _Scripts) -> _Scripts:
            added: _Scripts = {}
            for details in scripts:
                script_id = _checked_id(details["id"])
                if script_id in known:
                    raise ApiError(f'Content script with id "{script_id}" is already registered.')
                _require_new(script_id, added)
                added[script_id] = _script(caller, details)
            return known | added

        await self._change(caller, add)

    async def update(self, caller: ExtensionCaller, scripts: Sequence[Mapping[str, Any]]) -> None:
        """Change the given properties of registered scripts."""

        def change(known: _Scripts) -> _Scripts:
            changed: _Scripts = {}
            for details in scripts:
                script_id = _existing_id(details["id"], known)
                _require_new(script_id, changed)
                before = _view(known[script_id])
                # As in Firefox, cssOrigin is reset unless it is given.
                given = {name: value for name, value in details.items() if value is not None}
                changed[script_id] = _script(caller, {**_EMPTY, **before, "cssOrigin": None, **given})
            return known | changed

        await self._change(caller, change)

    async def unregister(self, caller: ExtensionCaller, ids: Sequence[str] | None) -> None:
        """Unregister scripts: by default all."""

        def remove(known: _Scripts) -> _Scripts:
            removed = set(known) if ids is None else {_existing_id(each, known) for each in ids}
            return {script_id: script for script_id, script in known.items() if script_id not in removed}

        await self._change(caller, remove)

    async def views(self, caller: ExtensionCaller, ids: Sequence[str] | None) -> list[dict[str, Any]]:
        """The registered scripts: by default all."""
        known = _own(self._registry.registered(caller.extension_id))
        return [_view(script) for script_id, script in known.items() if ids is None or script_id in ids]

    async def _change(self, caller: ExtensionCaller, change: Callable[[_Scripts], _Scripts]) -> None:
        """Change the scripts of an extension: first in the profile, then in the engines."""
        async with self._registry.changing(caller.extension_id):
            before = self._registry.registered(caller.extension_id)
            known = _own(before)
            scripts = change(known)
            if scripts == known:
                return
            others = {key: script for key, script in before.items() if key[0] != KEY}
            after = others | {(KEY, script_id): script for script_id, script in scripts.items()}
            self._registry.check(after)
            await self._store.write(lambda transaction: save_all(transaction, caller.id, scripts.values()))
            await self._registry.change(caller.extension_id, after)


_EMPTY: Final = dict.fromkeys(("js", "css", "excludeMatches"))


def _own(scripts: Mapping[ScriptKey, ContentScript]) -> _Scripts:
    return {script.id: script for (kind, _), script in scripts.items() if kind == KEY}


def _checked_id(script_id: str) -> str:
    if not script_id or script_id.startswith("_"):
        raise ApiError("Invalid content script id.")
    return script_id


def _existing_id(script_id: str, known: _Scripts) -> str:
    if _checked_id(script_id) not in known:
        raise ApiError(f'Content script with id "{script_id}" does not exist.')
    return script_id


def _require_new(script_id: str, others: _Scripts) -> None:
    if script_id in others:
        raise ApiError(f"Script ID \"{script_id}\" found more than once in 'scripts' array.")


def _script(caller: ExtensionCaller, details: Mapping[str, Any]) -> ContentScript:
    if not details["js"] and not details["css"]:
        raise ApiError("At least one js or css must be specified.")
    if not details["matches"]:
        raise ApiError("matches must be specified.")
    for pattern in [*details["matches"], *(details["excludeMatches"] or ())]:
        if parse_match_pattern(pattern) is None:
            raise ApiError(f"Invalid url pattern: {pattern}")
    return ContentScript(
        id=details["id"],
        matches=tuple(details["matches"]),
        exclude_matches=tuple(details["excludeMatches"] or ()),
        js=_files(caller, details["js"]),
        css=_files(caller, details["css"]),
        css_origin=details["cssOrigin"] or "author",
        run_at=details["runAt"] or "document_idle",
        world=details["world"] or "ISOLATED",
        all_frames=bool(details["allFrames"]),
        match_origin_as_fallback=bool(details["matchOriginAsFallback"]),
        check_permissions=True,
        persist=bool(details["persistAcrossSessions"]),
    )


def _files(caller: ExtensionCaller, urls: Sequence[str] | None) -> tuple[ScriptSource, ...]:
    """The files of relative URLs, which the schema has checked. They are relative to the root of the extension."""
    paths = (package_path(url, f"moz-extension://{caller.uuid}/") for url in urls or ())
    return tuple(ScriptSource(file=path or "") for path in paths)


def _view(script: ContentScript) -> dict[str, Any]:
    """scripting.RegisteredContentScript, as Firefox shows it: empty lists are left out."""
    view: dict[str, Any] = {
        "id": script.id,
        "allFrames": script.all_frames,
        "matches": list(script.matches),
        "matchOriginAsFallback": script.match_origin_as_fallback,
        "runAt": script.run_at,
        "world": script.world,
        "persistAcrossSessions": script.persist,
        "cssOrigin": script.css_origin,
    }
    lists = {
        "css": [source.file for source in script.css],
        "excludeMatches": list(script.exclude_matches),
        "js": [source.file for source in script.js],
    }
    return view | {name: found for name, found in lists.items() if found}
