"""Fields of a multipart form, as curl spells them with -F. Reads the files that they name."""

from __future__ import annotations

import mimetypes
import os
import re
import sys
from pathlib import Path
from typing import Final

import msgspec

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.terminal_text import visible

__all__ = ["FormField", "parse_form_field"]

_STANDARD: Final = "-"
_BINARY: Final = "application/octet-stream"
_PARAMETER: Final = re.compile(r';\s*(type|filename)=("(?:[^"\\]|\\.)*"|[^;]*)')


class FormField(msgspec.Struct, frozen=True):
    """A field of a form: a value, or a file if it has a file name."""

    name: str
    content: bytes
    filename: str | None = None
    type: str | None = None


def parse_form_field(given: str) -> FormField:
    """NAME=VALUE, NAME=@FILE (a file) or NAME=<FILE (its content as the value), with ;type= and ;filename=."""
    name, equals, value = given.partition("=")
    if not equals or not name:
        problem = f"invalid form field: {visible(given)}. Use NAME=VALUE, NAME=@FILE or NAME=<FILE"
        raise bad_parameter(problem, param_hint="--form")
    first = _PARAMETER.search(value)
    text = value[: first.start()] if first else value
    parameters = {match[1]: _unquoted(match[2]) for match in _PARAMETER.finditer(value)}
    if re.search(r"[\0\r\n]", "".join(parameters.values())):
        raise bad_parameter(f"invalid form field: {visible(given)}", param_hint="--form")
    kind = parameters.get("type")
    if text.startswith("@"):
        path = _unquoted(text[1:])
        filename = parameters.get("filename") or (_STANDARD if path == _STANDARD else Path(path).name)
        return FormField(name, _read(path), filename, kind or mimetypes.guess_type(filename)[0] or _BINARY)
    content = _read(_unquoted(text[1:])) if text.startswith("<") else os.fsencode(_unquoted(text))
    return FormField(name, content, parameters.get("filename"), kind)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _read(source: str) -> bytes:
    try:
        if source == _STANDARD:
            return sys.stdin.buffer.read() if sys.stdin else b""
        return Path(source).read_bytes()
    except OSError as error:
        raise CommandError("FileNotReadable", f"{source}: {error.strerror}") from error
