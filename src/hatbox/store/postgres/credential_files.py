"""The files with which libpq signs in at a server, for programs that hide them from others. Opens none of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from psycopg import conninfo as psycopg_conninfo

__all__ = ["credential_files"]

_PARAMETERS: Final = ("passfile", "sslcert", "sslkey")
_VARIABLES: Final = ("PGPASSFILE", "PGSERVICEFILE", "PGSSLCERT", "PGSSLKEY")
_DEFAULTS: Final = ("~/.pgpass", "~/.pg_service.conf", "~/.postgresql")


def credential_files(conninfo: str) -> list[Path]:
    """The existing files and folders: named in connection parameters and in the environment, and the default ones.

    Those that only a service file names are missing.
    """
    parameters = psycopg_conninfo.conninfo_to_dict(conninfo)
    names = [str(parameters.get(name) or "") for name in _PARAMETERS]
    names += [os.environ.get(name, "") for name in _VARIABLES]
    paths = [Path(each).expanduser() for each in (*names, *_DEFAULTS) if each]
    # No device, such as /dev/null, and no key that an engine of OpenSSL has: its name is not that of a file.
    return [each for each in paths if each.is_file() or each.is_dir()]
