"""The namespace contentScripts: scripts that are registered while the calling page is open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from hatbox.api.caller import ExtensionCaller
from hatbox.api.content_script_registry import ContentScriptRegistry, ScriptKey
from hatbox.api.namespace import Namespace
from hatbox.api.package_paths import package_path
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extension_data.extension_permissions import subsumes
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.messaging.context import ExtensionContext
from hatbox.schema import NamespaceSchema
from hatbox.tasks import Tasks

__all__ = ["RegisteredScript", "implement"]

_KEY: Final = "contentScripts"
_PRIVATE_STORE: Final = "firefox-private"

_numbers = count(1)


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the engines that inject content scripts."""
    return _ContentScripts(schema, services)


class RegisteredScript:
    """A registered content script, for Python: what contentScripts.register resolves to."""

    def __init__(self, registry: ContentScriptRegistry, context: ExtensionContext, number: int) -> None:
        self._registry = registry
        self._context = context
        self._number = number

    async def unregister(self) -> None:
        """Unregister the script. Raises ApiError if it was unregistered before."""
        if not await unregister_script(self._registry, self._context, self._number):
            raise ApiError("Content script already unregistered")


class _ContentScripts(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        super().__init__(schema, services.store, {})
        self._registry = services.content_scripts
        self._tasks = Tasks()

    def register(self, caller: ExtensionCaller, options: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._register(caller, options))

    async def _register(self, caller: ExtensionCaller, options: Mapping[str, Any]) -> Any:
        for pattern in options["matches"]:
            if not subsumes(caller.permissions, pattern):
                raise ApiError(f"Permission denied to register a content script for {pattern}")
        script = _script(caller, options)
        context, number = caller.context, next(_numbers)
        async with self._registry.changing(caller.extension_id):
            after = self._registry.registered(caller.extension_id) | {_key(context, number): script}
            self._registry.check(after)
            await self._registry.change(caller.extension_id, after)

        def on_close() -> None:
            self._tasks.spawn(unregister_script(self._registry, context, number))

        context.on_close.append(on_close)
        return number if context.is_javascript else RegisteredScript(self._registry, context, number)


async def unregister_script(registry: ContentScriptRegistry, context: ExtensionContext, number: int) -> bool:
    """Unregister the script that a context has registered; False if it does not exist any more."""
    async with registry.changing(context.extension_id):
        scripts = registry.registered(context.extension_id)
        if scripts.pop(_key(context, number), None) is None:
            return False
        await registry.change(context.extension_id, scripts)
        return True


def _key(context: ExtensionContext, number: int) -> ScriptKey:
    return _KEY, (context.number, number)


def _script(caller: ExtensionCaller, options: Mapping[str, Any]) -> ContentScript:
    globs, fallback = options["includeGlobs"], options["matchOriginAsFallback"]
    return ContentScript(
        matches=tuple(options["matches"]),
        exclude_matches=tuple(options["excludeMatches"] or ()),
        include_globs=None if globs is None else tuple(globs),
        exclude_globs=tuple(options["excludeGlobs"] or ()),
        js=_sources(caller, options["js"]),
        css=_sources(caller, options["css"]),
        css_origin=options["cssOrigin"] or "author",
        run_at=options["runAt"] or "document_idle",
        world=options["world"] or "ISOLATED",
        all_frames=bool(options["allFrames"]),
        match_about_blank=fallback is None and bool(options["matchAboutBlank"]),
        match_origin_as_fallback=bool(fallback),
        cookie_store_ids=_stores(options["cookieStoreId"]),
    )


def _sources(caller: ExtensionCaller, sources: Sequence[Mapping[str, str]] | None) -> tuple[ScriptSource, ...]:
    root = f"moz-extension://{caller.uuid}/"
    return tuple(
        ScriptSource(file=package_path(each["file"], root) or "") if "file" in each else ScriptSource(code=each["code"])
        for each in sources or ()
    )


def _stores(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    stores = (given,) if isinstance(given, str) else tuple(given)
    for store in stores:
        if store not in (DEFAULT_COOKIE_STORE_ID, _PRIVATE_STORE) and user_context_id_of(store) is None:
            raise ApiError("Invalid cookieStoreId")
    return stores
