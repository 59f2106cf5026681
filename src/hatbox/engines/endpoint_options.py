"""What the user allows the clients of an endpoint."""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["NO_OPTIONS", "EndpointOptions"]


class EndpointOptions(msgspec.Struct, frozen=True):
    """The options of one endpoint. Endpoints with other options than NO_OPTIONS are not shared by programs."""

    uploads: str = ""
    """The absolute path of the folder below which clients may upload files; empty for none."""
    downloads: str = ""
    """That of the folder for downloads of pages that clients open; empty for that of the engine."""
    port: int = 0
    """The port on which clients need no token; 0 for any port, and clients with tokens."""
    grant: str = ""
    """The id of the only grant that clients may have; empty for any grant of the identity."""


NO_OPTIONS: Final = EndpointOptions()
