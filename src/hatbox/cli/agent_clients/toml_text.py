"""Edits TOML as text: adds a table at the end and removes a table, and changes nothing else. Pure text."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from hatbox.cli.agent_clients.json_text import InvalidText

__all__ = ["parse_toml_text", "with_table", "without_table"]

_HEADER: Final = re.compile(r"\s*\[")
_CONTENT: Final = re.compile(r"\s*[^\s#]")


def parse_toml_text(text: str) -> dict[str, Any]:
    """The content of a text. Raises InvalidText."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidText(str(error)) from error


def with_table(text: str, key: str, name: str, values: Mapping[str, object]) -> str:
    """The text with the table [key.name] at its end. `key` and `name` are bare keys."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{key}.{name}]", *(f"{each} = {_rendered(value)}" for each, value in values.items())]
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join(lines) + newline


def without_table(text: str, key: str, name: str) -> str:
    """The text without the table [key.name] and the tables in it. Comments above other tables stay."""
    own = re.compile(rf"\s*\[\s*{re.escape(key)}\s*\.\s*([\"']?){re.escape(name)}\1\s*[.\]]")
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    pending: list[str] = []  # comments and empty lines, which belong to what follows
    inside = False
    for line in lines:
        if _HEADER.match(line) and not line.strip().endswith(","):
            inside = own.match(line) is not None
            if inside and pending and not pending[-1].strip():
                pending.pop()
        if not _CONTENT.match(line):
            pending.append(line)
        elif not inside:
            kept += [*pending, line]
            pending = []
        elif own.match(line):
            kept += pending
            pending = []
        else:
            kept += [each for each in pending if each.strip()]
            pending = []
    return "".join(kept + pending)


def _rendered(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_rendered(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_rendered, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
