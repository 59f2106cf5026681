"""Reads the schema files, and compiles each into the NamespaceSchema that one kind of caller sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from hatbox.schema.calls import NormaliseCall, compile_call, separate_callback
from hatbox.schema.results import Converter, compile_converter

__all__ = [
    "EventSchema",
    "FunctionSchema",
    "NamespaceSchema",
    "OptionRequirement",
    "is_setting",
    "load",
    "permissions",
    "read",
    "read_document",
    "resolved",
]

Resolve: TypeAlias = Callable[[Any], Any]
"""Replaces the references in a part of a schema."""

_HERE: Final = Path(__file__).parent
_TYPES: Final = "types.json"
_SETTING: Final = "#"
_CACHED_FILES: Final = 8  # all of them need megabytes
_NOT_RESOLVED: Final = frozenset({"$ref", "pythonClass", "pythonType"})  # the last two are for schema/python_types.py


class FunctionSchema(NamedTuple):
    """A function of a namespace."""

    name: str
    path: str
    """The name in messages: `storage.StorageArea.get` for every storage area."""
    parameters: tuple[str, ...]
    aliases: Mapping[str, str]
    """Other keyword names of parameters."""
    permissions: frozenset[str]
    """Permissions needed in addition to those of the namespace."""
    any_permission: frozenset[str]
    """Permissions of which one is needed, if any."""
    takes_callback: bool
    normalise: NormaliseCall
    convert_result: Converter
    any_value: bool
    """Whether it resolves to a value of the script, which JSON may not be able to represent."""

    def is_permitted(self, permissions: Set[str]) -> bool:
        """Whether a caller with these permissions may call it."""
        has_one = not self.any_permission or not self.any_permission.isdisjoint(permissions)
        return self.permissions <= permissions and has_one


class OptionRequirement(NamedTuple):
    """An option of addListener that needs one of several permissions."""

    parameter: int
    word: str
    permissions: frozenset[str]
    message: str
    excludes: str | None = None
    """The word is rejected only together with this one."""

    def is_used(self, options: Sequence[Any]) -> bool:
        """Whether the options have the word, and the one that it excludes."""
        words = options[self.parameter] or ()
        return self.word in words and (self.excludes is None or self.excludes in words)

    def is_satisfied(self, permissions: Set[str]) -> bool:
        """Whether a caller with these permissions may use it."""
        return not self.permissions.isdisjoint(permissions)


class EventSchema(NamedTuple):
    """An event of a namespace. `argument_converters` convert the arguments of a listener."""

    name: str
    path: str
    permissions: frozenset[str]
    """Permissions needed in addition to those of the namespace."""
    normalise: NormaliseCall
    """Checks the options of addListener."""
    needs: tuple[OptionRequirement, ...]
    argument_converters: tuple[Converter, ...]
    user_input: bool
    """Whether listeners are user input handlers."""


class NamespaceSchema:
    """One schema file. Of several schemas of a namespace, a caller sees the permitted one of highest rank.

    Its members are compiled when they are first used: a program uses few namespaces.
    """

    def __init__(self, file: str, schema: Mapping[str, Any]) -> None:
        self.file = file
        self.namespace: str = schema["namespace"]
        self.permissions = frozenset[str](schema["permissions"])
        self.for_extensions: bool = schema.get("forExtensions", False)
        """Whether only extensions see it."""
        self.for_manager: bool = schema.get("forManager", False)
        """Whether no extension sees it: only programs of the user, such as the manager page."""
        self.hidden: bool = schema.get("hidden", False)
        """Whether no script sees it: only the files in members/ call it."""
        self.manifest_keys = frozenset[str](schema.get("manifestKeys", ()))
        """Manifest keys, of which an extension needs one."""
        self.manifest_version: int | None = schema.get("manifestVersion")
        """The manifest version that it is for; None for all."""
        self.honours = frozenset[str](schema.get("honours", ()))
        """Optional permissions that add to results."""
        self.rank: int = schema["rank"]
        self.implementation: str = schema["implementation"]
        self._shown: str = schema.get("shownAs", self.namespace)

    @cached_property
    def functions(self) -> Mapping[str, FunctionSchema]:
        """The functions. Those that only JavaScript can have, such as those that return a window, are in members/."""
        found, resolve = read(self.file)["functions"], _resolver(self.file)
        return {each["name"]: _function(self._shown, each, resolve) for each in found if not each.get("inScripts")}

    @cached_property
    def events(self) -> Mapping[str, EventSchema]:
        """The events."""
        resolve = _resolver(self.file)
        return {each["name"]: _event(self._shown, each, resolve) for each in read(self.file)["events"]}

    @cached_property
    def enumerations(self) -> Mapping[str, Mapping[str, str]]:
        """The values of each enumeration, by their names in scripts."""
        resolve = _resolver(self.file)
        return {
            each["id"]: {value.upper(): value for value in values}
            for each in read(self.file)["types"]
            if ("enum" in each or "choices" in each) and (values := _enumerated(resolve(each)))
        }

    @cached_property
    def constants(self) -> Mapping[str, int]:
        """The constants."""
        return {name: each["value"] for name, each in read(self.file).get("properties", {}).items()}


def permissions() -> frozenset[str]:
    """The names of all permissions that Python scripts can use."""
    schemas = [each for each in load() if not each.for_extensions]
    functions = (function.permissions for each in schemas for function in each.functions.values())
    events = [event for each in schemas for event in each.events.values()]
    names: frozenset[str] = frozenset().union(
        *(each.permissions | each.honours for each in schemas),
        *functions,
        *(event.permissions for event in events),
        *(need.permissions for event in events for need in event.needs),
    )
    return names - {"<all_urls>"}  # a match pattern, not a name


@cache
def load() -> tuple[NamespaceSchema, ...]:
    """The schemas of all namespaces, highest rank first."""
    schemas = [NamespaceSchema(file, read(file)) for file in _files()]
    return tuple(sorted(schemas, key=lambda each: -each.rank))


@cache
def resolved(file: str) -> dict[str, Any]:
    """A schema file with each reference replaced by the type that it names."""
    schema: dict[str, Any] = _resolver(file)(read(file))
    return schema


@cache
def read_document(file: str) -> dict[str, Any]:
    """The schema of a document, with each reference replaced by the type that it names."""
    schema: dict[str, Any] = msgspec.json.decode((_HERE / "document_files" / file).read_bytes())
    document: dict[str, Any] = _resolve(schema["document"], _types_of(schema))
    return document


@cache
def _files() -> list[str]:
    files = sorted(file.name for file in _HERE.glob("*.json"))
    return [*files, *(f"{file}{_SETTING}{name}" for file in files for name in read(file).get("settings", ()))]


@cache
def _files_by_namespace() -> dict[str, str]:
    """The file with the types of each namespace."""
    namespaces = {each.file: each.namespace for each in load()}
    return {namespaces[file]: file for file in _files()}


def _types_in(namespace: str) -> dict[str, Any]:
    return _types_of(read(_files_by_namespace()[namespace]))


def _resolver(file: str) -> Resolve:
    return partial(_resolve, own=_types_of(read(file)))


@lru_cache(_CACHED_FILES)
def read(file: str) -> dict[str, Any]:
    """A schema file, with unresolved references.

    `like` names another schema file to inherit from, `without` some properties. Its own keys override inherited ones,
    and `moreFunctions` are added to the inherited functions. `settings` are namespaces below the one of the file, all
    with the members of types.Setting: `file#name`.
    """
    if is_setting(file):
        return _setting(*file.split(_SETTING))
    schema: dict[str, Any] = msgspec.json.decode((_HERE / file).read_bytes())
    if "like" not in schema:
        return schema
    other = _without(read(schema["like"]), frozenset(schema.get("without", ())))
    types = {**_types_of(other), **_types_of(schema)}
    functions = [*schema.get("functions", other["functions"]), *schema.get("moreFunctions", ())]
    return {**other, **schema, "types": list(types.values()), "functions": functions}


def is_setting(file: str) -> bool:
    """Whether this is the name of a setting of a schema file."""
    return _SETTING in file


def _setting(file: str, name: str) -> dict[str, Any]:
    """The schema of a setting."""
    schema, template = read(file), read(_TYPES)["setting"]
    inherited = {key: schema[key] for key in ("permissions", "forExtensions", "rank", "implementation")}
    return {**inherited, **template, "namespace": f"{schema['namespace']}.{name}", **schema["settings"][name]}


def _without(schema: Any, names: frozenset[str]) -> Any:
    if isinstance(schema, list):
        return [_without(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without(each, names) for name, each in value.items() if name not in names}
        if key == "properties"
        else _without(value, names)
        for key, value in schema.items()
    }


def _types_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {each["id"]: each for each in schema.get("types", ())}


def _enumerated(schema: Mapping[str, Any]) -> list[str]:
    """The values of an enumeration, or of a choice of several."""
    choices = schema.get("choices", [schema])
    return [value for each in choices for value in each["enum"]] if all("enum" in each for each in choices) else []


def _function(namespace: str, schema: Mapping[str, Any], resolve: Resolve) -> FunctionSchema:
    path = f"{namespace}.{schema['name']}"
    checks = _lazily(lambda: compile_call(path, resolve(schema["parameters"])))
    return FunctionSchema(
        name=schema["name"],
        path=path,
        parameters=tuple(each["name"] for each in schema["parameters"]),
        aliases={alias: each["name"] for each in schema["parameters"] for alias in each.get("aliases", ())},
        permissions=frozenset(schema.get("permissions", ())),
        any_permission=frozenset(schema.get("anyPermission", ())),
        takes_callback=schema.get("async") == "callback",
        normalise=separate_callback if schema.get("anyArguments") else checks,
        convert_result=_lazily(lambda: compile_converter(resolve(schema.get("returns")))),
        any_value=schema.get("returns", {}).get("type") == "any",
    )


def _event(namespace: str, schema: Mapping[str, Any], resolve: Resolve) -> EventSchema:
    path = f"{namespace}.{schema['name']}"
    return EventSchema(
        name=schema["name"],
        path=path,
        permissions=frozenset(schema.get("permissions", ())),
        normalise=_lazily(lambda: compile_call(path, resolve(schema.get("extraParameters", [])))),
        needs=tuple(
            OptionRequirement(
                each["parameter"], each["word"], frozenset(each["permissions"]), each["message"], each.get("excludes")
            )
            for each in schema.get("needs", ())
        ),
        argument_converters=tuple(
            _lazily(partial(_argument_converter, each, resolve)) for each in schema["parameters"]
        ),
        user_input=schema.get("userInput", False),
    )


def _argument_converter(schema: Mapping[str, Any], resolve: Resolve) -> Converter:
    return compile_converter(resolve(schema))


def _lazily(compiled: Callable[[], Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """A function that is compiled when it is first called: a program uses few of them."""
    function: Callable[[Any], Any] | None = None

    def call(value: Any) -> Any:
        nonlocal function
        if function is None:
            function = compiled()
        return function(value)

    return call


def _resolve(schema: Any, own: Mapping[str, Any]) -> Any:
    """The schema with each reference to a type, `Type` or `namespace.Type`, replaced by the type."""
    if isinstance(schema, list):
        return [_resolve(each, own) for each in schema]
    if not isinstance(schema, dict):
        return schema
    resolved = {key: _resolve(each, own) for key, each in schema.items() if key not in _NOT_RESOLVED}
    if "$ref" not in schema:
        return resolved
    namespace, _, name = schema["$ref"].rpartition(".")
    home = _types_in(namespace) if namespace else own
    return {**_resolve(home[name], home), **resolved}  # keys beside the reference override those of the type
