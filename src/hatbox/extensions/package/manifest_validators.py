"""Shapes of the values in a manifest, put together from small functions: each checks a value and brings it into the
form in which Firefox shows it to scripts. Knows no key of a manifest.

A shape raises Misfit for a value that does not fit. Where Firefox only warns, the value is left out, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.errors import ManifestError
from hatbox.extensions.package.extension_urls import absolute_url, is_relative
from hatbox.javascript.text import stringify

__all__ = [
    "KeySpec",
    "ManifestValueError",
    "ParseContext",
    "Path",
    "UrlString",
    "Validator",
    "anything",
    "boolean",
    "by_version",
    "either",
    "integer",
    "items",
    "members",
    "one_of",
    "resolve_urls",
    "shown",
    "table",
    "text",
    "url",
]

Path: TypeAlias = tuple[str | int, ...]
Validator: TypeAlias = Callable[[Any, "ParseContext", Path], Any]

_SHOWN_LENGTH: Final = 60
NO_URL: Final = "Name a file of the extension, without https:// or the like."


class UrlString(str):
    """A URL inside the extension, as it is written in the manifest."""

    __slots__ = ()


class ManifestValueError(Exception):
    """A value that is not what it should be: where, what is wrong, and what to do about it."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.path = path
        self.problem = problem
        self.remedy = remedy

    def error(self, file: str) -> ManifestError:
        """The same for a person."""
        return ManifestError(file, _dotted(self.path), self.problem, self.remedy)


class ParseContext:
    """One reading of one manifest: its version, its language, and the warnings so far."""

    def __init__(self, file: str, version: int, localize: Callable[[str], str]) -> None:
        self.file = file
        self.version = version
        self.localize = localize
        self.warnings: list[str] = []

    def warn(self, path: Path, problem: str) -> None:
        """Say what is wrong with something that does not matter enough to refuse the extension."""
        self.warnings.append(f"{self.file}: {_dotted(path)}: {problem}.")


class KeySpec(NamedTuple):
    """A key of an object. One with `warn` is left out with a warning if its value does not fit."""

    shape: Validator
    required: bool = False
    default: Any = None
    warn: bool = False
    versions: tuple[int, ...] = (2, 3)


def text(
    accept: Callable[[str], bool] = lambda _: True,
    problem: str = "",
    remedy: str = "",
    *,
    localized: bool = False,
) -> Validator:
    """Text, of which `accept` can ask more; `problem` follows the value in the error."""

    def shape(value: Any, reading: ParseContext, path: Path) -> str:
        if not isinstance(value, str):
            raise ManifestValueError(path, f"{shown(value)} is not text", "Write text in double quotes.")
        found = reading.localize(value) if localized else value
        if not accept(found):
            raise ManifestValueError(path, f"{shown(found)} {problem}", remedy)
        return found

    return shape


def url(*, localized: bool = False, relative: bool = True) -> Validator:
    """A URL inside the extension; without `relative` also one outside."""
    check = text(is_relative if relative else lambda _: True, "is not in the extension", NO_URL, localized=localized)

    def shape(value: Any, reading: ParseContext, path: Path) -> str:
        found: str = check(value, reading, path)
        return UrlString(found) if is_relative(found) else found

    return shape


def boolean(value: Any, _: ParseContext, path: Path) -> bool:
    """true or false."""
    if isinstance(value, bool):
        return value
    raise ManifestValueError(path, f"{shown(value)} is neither true nor false", "Write true or false, without quotes.")


def integer(value: Any, _: ParseContext, path: Path) -> int:
    """A whole number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and float(value).is_integer():
        return int(value)
    raise ManifestValueError(path, f"{shown(value)} is not a whole number", "Write a whole number, without quotes.")


def anything(value: Any, _: ParseContext, __: Path) -> Any:
    """Whatever it is, kept as it is."""
    return value


def one_of(*allowed: str) -> Validator:
    """One of these texts."""
    return text(lambda value: value in allowed, "is not possible here", f"Write {_listed(allowed)}.")


def items(item: Validator, *, warn: bool = False, at_least: int = 0) -> Validator:
    """A list; with `warn`, items that do not fit are left out with a warning."""

    def shape(value: Any, reading: ParseContext, path: Path) -> list[Any]:
        if not isinstance(value, list):
            raise ManifestValueError(path, f"{shown(value)} is not a list", "Write a list in square brackets.")
        found = []
        for index, element in enumerate(value):
            try:
                found.append(item(element, reading, (*path, index)))
            except ManifestValueError as misfit:
                if not warn:
                    raise
                reading.warn(misfit.path, f"{misfit.problem}; it is ignored")
        if len(found) < at_least:
            raise ManifestValueError(path, "the list is empty", "Add an item, or remove the key.")
        return found

    return shape


def members(keys: Mapping[str, KeySpec], *, others: str = "warn") -> Validator:
    """An object with these keys. Other ones are kept, with a warning ("warn") or without ("keep"), or refused."""

    def shape(value: Any, reading: ParseContext, path: Path) -> dict[str, Any]:
        _check_object(value, path)
        found: dict[str, Any] = {}
        for name, key in keys.items():
            if reading.version in key.versions:
                found[name] = _member(name, key, value, reading, path)
            elif name in value:
                reading.warn((*path, name), f"manifest version {reading.version} does not have this; it is ignored")
        for name in (name for name in value if name not in keys):
            if others == "refuse":
                raise ManifestValueError((*path, name), "this key is not known here", "Remove it.")
            found[name] = value[name]
            if others == "warn":
                reading.warn((*path, name), "Firefox does not know this key; it is ignored")
        return found

    return shape


def _member(name: str, key: KeySpec, value: Mapping[str, Any], reading: ParseContext, path: Path) -> Any:
    if name not in value and key.required:
        raise ManifestValueError((*path, name), "it is missing", "Add it.")
    if value.get(name) is None and not key.required:
        return key.default
    try:
        return key.shape(value[name], reading, (*path, name))
    except ManifestValueError as misfit:
        if not key.warn:
            raise
        reading.warn(misfit.path, f"{misfit.problem}; it is ignored")
        return key.default


def table(item: Validator, accept: Callable[[str], bool] = lambda _: True, remedy: str = "") -> Validator:
    """An object whose keys are not known beforehand, but of which `accept` can ask something."""

    def shape(value: Any, reading: ParseContext, path: Path) -> dict[str, Any]:
        _check_object(value, path)
        for name in value:
            if not accept(name):
                raise ManifestValueError((*path, name), "this key is not possible here", remedy)
        return {name: item(element, reading, (*path, name)) for name, element in value.items()}

    return shape


def either(first: Validator, second: Validator) -> Validator:
    """What one of two shapes takes: the second one is for objects only."""

    def shape(value: Any, reading: ParseContext, path: Path) -> Any:
        return second(value, reading, path) if isinstance(value, dict) else first(value, reading, path)

    return shape


def by_version(shapes: Mapping[int, Validator]) -> Validator:
    """A shape for each version of the manifest."""

    def shape(value: Any, reading: ParseContext, path: Path) -> Any:
        return shapes[reading.version](value, reading, path)

    return shape


def resolve_urls(value: Any, base_url: str) -> Any:
    """A copy in which each URL inside the extension is an address below `base_url`, as scripts see it."""
    if isinstance(value, UrlString):
        return absolute_url(value, base_url)
    if isinstance(value, dict):
        return {name: resolve_urls(member, base_url) for name, member in value.items()}
    return [resolve_urls(item, base_url) for item in value] if isinstance(value, list) else value


def shown(value: Any) -> str:
    """A value as it stands in a message, if need be cut short."""
    written = stringify(value)
    return written if len(written) <= _SHOWN_LENGTH else f"{written[:_SHOWN_LENGTH]}…"


def _check_object(value: Any, path: Path) -> None:
    if not isinstance(value, dict):
        raise ManifestValueError(path, f"{shown(value)} is not an object", "Write an object in braces.")


def _dotted(path: Path) -> str:
    """background.scripts[1]"""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _listed(names: Iterable[str]) -> str:
    *others, last = (f'"{name}"' for name in names)
    return f"{', '.join(others)} or {last}" if others else last
