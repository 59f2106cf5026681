"""Extension ids: from the manifest or generated, and the UUID of moz-extension:// URLs. Pure."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import uuid
from pathlib import Path
from typing import Final

__all__ = ["extension_uuid", "is_extension_id", "temporary_id"]

_ID: Final = re.compile(
    r"\{[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}|[a-z0-9\-._]*@[a-z0-9\-._]+",
    re.ASCII | re.IGNORECASE,
)


def is_extension_id(text: str) -> bool:
    """Whether the text is a valid extension id in Firefox."""
    return _ID.fullmatch(text) is not None


def temporary_id(place: Path) -> str:
    """The id of an extension without an id in its manifest. It depends only on the path; links are not followed."""
    path = os.path.abspath(place).encode("utf-8", "surrogateescape")  # noqa: PTH100 - it removes ".." without reading the disk
    return f"{hashlib.sha256(path).hexdigest()[:40]}@temporary-addon"


def extension_uuid(extension_id: str, secret: str = "") -> str:
    """The host of the extension's moz-extension:// URLs. It depends on the id and on the secret of the profile.

    Without a secret it can be guessed: such a UUID is only for reading a manifest.
    """
    digest = hmac.digest(secret.encode(), extension_id.encode(), "sha256")
    return str(uuid.UUID(bytes=digest[:16], version=4))
