"""The content scripts that an extension has from its start: those of its manifest, and those that it has stored."""

from __future__ import annotations

from hatbox.api.content_script_registry import ContentScriptRegistry, ScriptKey
from hatbox.extension_data.content_script import ContentScript
from hatbox.extension_data.registered_scripts import load_all
from hatbox.extensions.package.manifest import Manifest
from hatbox.store.base import Store

__all__ = ["start_content_scripts", "stop_content_scripts"]


async def start_content_scripts(registry: ContentScriptRegistry, store: Store, manifest: Manifest, area: str) -> None:
    """Register the content scripts of an extension, before its background scripts run."""
    stored = await store.read(lambda transaction: load_all(transaction, area))
    scripts: dict[ScriptKey, ContentScript] = {
        ("manifest", index): each for index, each in enumerate(manifest.content_scripts)
    }
    scripts |= {("scripting", script.id): script for script in stored}
    if scripts:
        await registry.change(manifest.id, scripts)


async def stop_content_scripts(registry: ContentScriptRegistry, extension_id: str) -> None:
    """Unregister all content scripts of an extension. Engines are notified in any case: they may have executed some."""
    await registry.change(extension_id, {})
