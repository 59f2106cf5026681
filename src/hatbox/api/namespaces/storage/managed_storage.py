"""What whoever runs an extension has laid down for it: `managed-storage/<id>.json` beside the profile."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hatbox.errors import ApiError
from hatbox.extension_data.storage.storage_areas import AREAS, refuse_temporary
from hatbox.extension_data.storage.storage_items import Keys, with_defaults
from hatbox.javascript.wire_codec import decode

__all__ = ["bytes_in_use", "get", "get_keys", "refuse"]

logger = logging.getLogger("hatbox.api")

_FOLDER: Final = "managed-storage"
_LARGEST: Final = 5_242_880


def get(folder: Path | None, extension: str, keys: Keys | Mapping[str, Any]) -> dict[str, Any]:
    """The values of these keys, or of all; a mapping has values for keys that are not there."""
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
    refuse_temporary(extension)
    return 0


def refuse() -> None:
    """What cannot be changed from here is not."""
    raise ApiError("storage.managed is read-only")


def _read(folder: Path | None, extension: str) -> dict[str, Any]:
    refuse_temporary(extension)
    if folder is None:
        raise ApiError("Managed storage manifest not found")
    path = folder / _FOLDER / f"{Path(extension).name}.json"
    try:
        with path.open("rb") as file:
            contents = file.read(_LARGEST + 1)
        values = decode(contents) if len(contents) <= _LARGEST else None
    except FileNotFoundError:
        raise ApiError("Managed storage manifest not found") from None
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("%s cannot be read (%s); %s gets nothing of it", path, error, extension)
        raise ApiError("Managed storage manifest not found") from None
    if not isinstance(values, dict):
        logger.warning("%s is not an object, or larger than %d bytes; %s gets nothing of it", path, _LARGEST, extension)
        raise ApiError("Managed storage manifest not found")
    return values
