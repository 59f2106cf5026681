"""The actions of running extensions, as buttons that an engine shows to the user."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hatbox.engines.extension_buttons import ExtensionButton
from hatbox.errors import TriggerError
from hatbox.extension_data import run_records
from hatbox.extension_data.action_values import get_value, tab_scope
from hatbox.extension_data.actions import ACTION, action_defaults, action_keys
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions.runtime.message_parsing import content_type
from hatbox.extensions.ui_triggers import trigger
from hatbox.store.base import Store, Transaction

__all__ = ["ActionButtons", "css_color", "icon_data_url"]

logger = logging.getLogger("hatbox.extensions")

_ICON_SIZE: Final = 32
_MAX_ICON: Final = 1 << 18  # bytes


class ActionButtons:
    """See ExtensionButtons. Icons are shown of extensions that run in this process, whose files `read_file` reads."""

    def __init__(self, store: Store, read_file: Callable[[str], bytes | None]) -> None:
        self._store = store
        self._read_file = read_file

    async def buttons(self, tab_id: int) -> Sequence[ExtensionButton]:
        """See ExtensionButtons."""

        def read(transaction: Transaction) -> list[ExtensionButton]:
            running = run_records.get_all(transaction)
            return [self._button(transaction, each, tab_id) for each in running if action_keys(each.manifest)]

        return await self._store.read(read)

    async def click(self, extension: str, tab_id: int) -> None:
        """See ExtensionButtons."""
        try:
            await self._store.write(lambda transaction: trigger(transaction, extension, "action", tab_id=tab_id))
        except TriggerError as error:
            logger.warning("%s", error)

    def _button(self, transaction: Transaction, extension: RunRecord, tab_id: int) -> ExtensionButton:
        scope, defaults = tab_scope(transaction, tab_id), action_defaults(extension.manifest)
        values = {name: get_value(transaction, extension.id, ACTION, scope, name, defaults) for name in defaults}
        icon = icon_data_url(values["icon"] or _manifest_icons(extension.manifest), self._read_file)
        return ExtensionButton(
            extension.id,
            values["title"],
            values["badgeText"],
            css_color(values["badgeBackgroundColor"]),
            icon,
            values["enabled"],
        )


def icon_data_url(icons: Mapping[str, str], read_file: Callable[[str], bytes | None]) -> str:
    """The smallest icon that is large enough, as a data: URL; empty without one, or if it is too large."""
    sizes = sorted(icons, key=int)
    size = next((each for each in sizes if int(each) >= _ICON_SIZE), sizes[-1] if sizes else None)
    url = icons[size] if size is not None else ""
    if not url or url.startswith("data:"):
        return url if len(url) <= _MAX_ICON else ""
    data = read_file(url)
    if data is None or len(data) > _MAX_ICON:
        return ""
    return f"data:{content_type(url)};base64,{b64encode(data).decode('ascii')}"


def _manifest_icons(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    icons = (action_keys(manifest) or {}).get("default_icon") or manifest.get("icons") or {}
    return {"0": icons} if isinstance(icons, str) else icons


def css_color(color: Sequence[int]) -> str:
    """A color of four bytes in CSS."""
    red, green, blue, alpha = color
    return f"rgb({red} {green} {blue} / {alpha / 255:.3f})"
