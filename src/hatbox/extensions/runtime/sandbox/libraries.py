"""The shared libraries that a program loads, as the dynamic loader of this system finds them."""

from __future__ import annotations

import re
import subprocess
from typing import Final, NamedTuple

from hatbox.errors import ExtensionTerminated

__all__ = ["Libraries", "libraries_of"]

_LINE: Final = re.compile(r"^\s*(?:(?P<loader>/\S+)|\S+)(?: => (?P<library>/\S+))? \(0x[0-9a-f]+\)$", re.MULTILINE)


_SECONDS: Final = 30.0


class Libraries(NamedTuple):
    """Paths: of the loader, which is executed, and of the libraries, which are read."""

    loader: tuple[str, ...]
    libraries: tuple[str, ...]


def libraries_of(program: str) -> Libraries:
    """Query the dynamic loader, which then does not run the program. Empty for a static program.

    Raises ExtensionTerminated if it does not answer, for example because the file system does not.
    """
    try:
        result = subprocess.run(  # noqa: S603 - the Deno that is run anyway
            [program],
            env={"LD_TRACE_LOADED_OBJECTS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise ExtensionTerminated(f"the dynamic loader did not list the libraries of {program} in time") from error
    found = list(_LINE.finditer(result.stdout.decode("utf-8", "replace")))
    return Libraries(
        tuple(each["loader"] for each in found if each["loader"]),
        tuple(each["library"] for each in found if each["library"]),
    )
