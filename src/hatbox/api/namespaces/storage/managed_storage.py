"""storage.managed: read-only values from `managed-storage/<id>.json` beside the profile."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hatbox.errors import ApiError
from hatbox.extension_data.storage.storage_areas import AREAS, require_explicit_id
from hatbox.extension_data.storage.storage_items import Keys, with_defaults
from hatbox.javascript.wire_codec import decode

__all__ = ["bytes_in_use", "get", "get_keys", "reject_write"]

logger = logging.getLogger("hatbox.api")

_FOLDER: Final = "managed-storage"
_MAX_BYTES: Final = 5_242_880


def get(folder: Path | None, extension: str, keys: Keys | Mapping[str, Any]) -> dict[str, Any]:
    """The values of these keys, or all values. A mapping contains defaults for missing keys."""
    values = _read(folder, extension)
    if keys is None:
        return values
    if isinstance(keys, Mapping):
        return with_defaults(values, keys, AREAS["session"])
    return {key: values[key] for key in ([keys] if isinstance(keys, str) else keys) if key in values}


def get_keys(folder: Path | None, extension: str) -> list[str]:
    """All keys."""
    return list(_read(folder, extension))


def bytes_in_use(extension: str) -> int:
    """Always 0, as in Firefox."""
    require_explicit_id(extension)
    return 0


def reject_write() -> None:
    """Raise ApiError."""
    raise ApiError("storage.managed is read-only")


def _read(folder: Path | None, extension: str) -> dict[str, Any]:
    require_explicit_id(extension)
    if folder is None:
        raise ApiError("Managed storage manifest not found")
    path = folder / _FOLDER / f"{Path(extension).name}.json"
    try:
        with path.open("rb") as file:
            contents = file.read(_MAX_BYTES + 1)
        values = decode(contents) if len(contents) <= _MAX_BYTES else None
    except FileNotFoundError:
        raise ApiError("Managed storage manifest not found") from None
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("managed storage of %s: cannot read %s: %s", extension, path, error)
        raise ApiError("Managed storage manifest not found") from None
    if not isinstance(values, dict):
        logger.warning(
            "managed storage of %s: %s is not a JSON object, or exceeds %d bytes", extension, path, _MAX_BYTES
        )
        raise ApiError("Managed storage manifest not found")
    return values
