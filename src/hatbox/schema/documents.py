"""Checks documents such as manifests: reading continues after errors that are only warnings.

The types are those of schema/types.py, with what Firefox's schemas of manifests have in addition:

    preprocess: localize    the text is localized before it is checked
    format, postprocess     functions that check and convert a value, by name
    onError: warn           an invalid property or item is left out, with a warning
    unknown: warn or keep   unknown properties are kept; without this, they are errors
    manifestVersion         a property or choice for one version only
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.schema.loader import read_document
from hatbox.schema.types import Normalise, Path, Type, ValidationError, compile_type, required, unexpected

__all__ = ["Convert", "Document", "Warnings", "normalise_document"]

Schema: TypeAlias = Mapping[str, Any]
Warnings: TypeAlias = list[tuple[Path, str]]
"""Paths and problems."""
Convert: TypeAlias = Callable[[Any, Warnings], Any]
"""Checks and converts a value, and may add warnings. Raises ValidationError."""


_LIST: Final = compile_type({"type": "array", "items": {"type": "any"}})
_TABLE: Final = compile_type({"type": "object", "additionalProperties": {"type": "any"}})


class Document:
    """A kind of document: its schema file, and the functions that the schema names.

    `describe` returns the path and the problem of an error, in the words of a warning.
    """

    def __init__(
        self,
        file: str,
        formats: Mapping[str, Convert],
        postprocessors: Mapping[str, Convert],
        describe: Callable[[ValidationError], tuple[Path, str]],
    ) -> None:
        self.file = file
        self.formats = formats
        self.postprocessors = postprocessors
        self.describe = describe


def normalise_document(
    document: Document, value: Any, version: int, localize: Callable[[str], str]
) -> tuple[Any, Warnings]:
    """The checked and converted document, and its warnings. Raises ValidationError."""
    reading = _Reading([], localize)
    token = _READING.set(reading)
    try:
        return _compiled(document, version).normalise(value), reading.warnings
    finally:
        _READING.reset(token)


class _Reading(NamedTuple):
    """The state of reading one document."""

    warnings: Warnings
    localize: Callable[[str], str]


_READING: Final[ContextVar[_Reading]] = ContextVar("_READING")  # types are compiled once, for all documents


@cache
def _compiled(document: Document, version: int) -> Type:
    return _Compiler(document).compile(_select(read_document(document.file), version))


def _select(schema: Any, version: int) -> Any:
    """The schema of one manifest version. Properties of other versions are marked."""
    if isinstance(schema, list):
        return [_select(each, version) for each in schema if _version_of(each) in (None, version)]
    if not isinstance(schema, dict):
        return schema
    selected = {key: _select(each, version) for key, each in schema.items() if key != "properties"}
    if "properties" in schema:
        selected["properties"] = {
            name: _select(each, version) if _version_of(each) in (None, version) else {"otherVersion": version}
            for name, each in schema["properties"].items()
        }
    return selected


def _version_of(schema: Any) -> int | None:
    return schema.get("manifestVersion") if isinstance(schema, dict) else None


class _Compiler:
    def __init__(self, document: Document) -> None:
        self._document = document

    def compile(self, schema: Schema) -> Type:
        """Compile a type with its named functions."""
        matches, normalise = self._compile(schema)
        convert = [self._document.formats[schema["format"]]] if "format" in schema else []
        convert += [self._document.postprocessors[schema["postprocess"]]] if "postprocess" in schema else []
        localizes = "preprocess" in schema
        if not convert and not localizes:
            return Type(matches, normalise)

        def converted(value: Any) -> Any:
            value = normalise(value)
            reading = _READING.get()
            if localizes:
                value = reading.localize(value)
            for each in convert:
                value = each(value, reading.warnings)
            return value

        return Type(matches, converted)

    def _compile(self, schema: Schema) -> Type:
        if len(schema.get("choices", ())) == 1:
            return self.compile(schema["choices"][0])
        if schema.get("type") == "array":
            return self._array(schema)
        if "properties" in schema:
            return self._object(schema)
        if "patternProperties" in schema:
            return self._table(schema)
        return compile_type({**schema, "format": None}, self.compile)

    def _array(self, schema: Schema) -> Type:
        item = self.compile(schema["items"]).normalise
        warns = schema["items"].get("onError") == "warn"
        check_length = compile_type({**schema, "items": {"type": "any"}}).normalise

        def normalise(value: Any) -> list[Any]:
            found: list[Any] = []
            for index, element in enumerate(_LIST.normalise(value)):
                found += self._part(index, item, element, warns=warns)
            check_length(found)
            return found

        return Type(_LIST.matches, normalise)

    def _object(self, schema: Schema) -> Type:
        members = {name: (each, self._member(each)) for name, each in schema["properties"].items()}

        def normalise(value: Any) -> dict[str, Any]:
            _TABLE.normalise(value)
            found: dict[str, Any] = {}
            for name, (member, convert) in members.items():
                if "otherVersion" not in member:
                    found[name] = self._member_value(name, member, convert, value)
                elif name in value:
                    self._warn_ignored(ValidationError("", "", (name,), code="otherVersion", value=member))
            return found | self._unknown({name: value[name] for name in value if name not in members}, schema)

        return Type(_TABLE.matches, normalise)

    def _member(self, schema: Schema) -> Normalise:
        return _TABLE.normalise if "otherVersion" in schema else self.compile(schema).normalise

    def _member_value(self, name: str, member: Schema, convert: Normalise, value: Mapping[str, Any]) -> Any:
        optional = member.get("optional", False)
        if name not in value and not optional:
            raise required(name)
        if value.get(name) is None and optional:
            return member.get("default")
        found = self._part(name, convert, value[name], warns=member.get("onError") == "warn")
        return found[0] if found else member.get("default")

    def _unknown(self, members: dict[str, Any], schema: Schema) -> dict[str, Any]:
        if members and "unknown" not in schema:
            raise unexpected(list(members))
        for name in members if schema.get("unknown") == "warn" else ():
            self._warn_ignored(ValidationError("", "", (name,), code="unknown"))
        return members

    def _table(self, schema: Schema) -> Type:
        [(pattern, member)] = schema["patternProperties"].items()
        item = self.compile(member).normalise

        def normalise(value: Any) -> dict[str, Any]:
            _TABLE.normalise(value)
            if rejected := [name for name in value if not re.search(pattern, name, re.ASCII)]:
                raise ValidationError("", "", (rejected[0],), code="key", detail=schema.get("remedy"))
            return {name: each for name in value for each in self._part(name, item, value[name])}

        return Type(_TABLE.matches, normalise)

    def _part(self, name: str | int, convert: Normalise, value: Any, *, warns: bool = False) -> list[Any]:
        """The converted part of an object or array; empty if it is ignored. Its errors and warnings get its name."""
        warnings = _READING.get().warnings
        before = len(warnings)
        found = []
        try:
            found = [convert(value)]
        except ValidationError as error:
            if not warns:
                raise error.inside(name) from None
            self._warn_ignored(error)
        if len(warnings) > before:
            warnings[before:] = [((name, *path), problem) for path, problem in warnings[before:]]
        return found

    def _warn_ignored(self, error: ValidationError) -> None:
        path, problem = self._document.describe(error)
        _READING.get().warnings.append((path, f"{problem}; it is ignored"))
