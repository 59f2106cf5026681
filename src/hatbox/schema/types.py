"""Compiles the types of a schema into functions that check and normalise a value. Knows no namespaces or calls.

Error messages match Firefox.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, cast

from hatbox.javascript.text import MAX_SAFE_INTEGER, code_units, stringify

__all__ = ["Compile", "Normalise", "Path", "Type", "ValidationError", "compile_type", "required", "unexpected"]

_DATE: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?(Z|[-+][0-9]{2}:?[0-9]{2}))?"
)

Normalise: TypeAlias = Callable[[Any], Any]
Path: TypeAlias = tuple[str | int, ...]
"""The path to a value: names of properties and indexes of arrays."""


class Type(NamedTuple):
    """A compiled type: `matches` checks only the outermost type of a value, `normalise` all of it."""

    matches: Callable[[Any], bool]
    normalise: Normalise


Compile: TypeAlias = Callable[[Mapping[str, Any]], Type]


class ValidationError(Exception):
    """A value that does not match its type. `choice` describes the type in a list of choices.

    `code`, `value` and `detail` are for callers with messages of their own: a type, or `enum`, `minItems`, `required`,
    `unexpected`, `choices`.
    """

    def __init__(
        self,
        problem: str | Callable[[], str],
        choice: str,
        path: Path = (),
        *,
        code: str = "",
        value: Any = None,
        detail: Any = None,
    ) -> None:
        super().__init__()
        self._problem = problem  # may be a function, because most problems of choices are never read
        self.choice = choice
        self.path = path
        self.code = code
        self.value = value
        self.detail = detail

    @property
    def problem(self) -> str:
        """The problem, without the path."""
        return self._problem if isinstance(self._problem, str) else self._problem()

    def inside(self, name: str | int) -> ValidationError:
        """The same error for the object or array that has the value under `name`."""
        return ValidationError(
            self._problem, self.choice, (name, *self.path), code=self.code, value=self.value, detail=self.detail
        )

    def __str__(self) -> str:
        return f"Error processing {self._dotted}: {self.problem}" if self.path else self.problem

    @property
    def as_choice(self) -> str:
        """The requirement, as a list of choices shows it."""
        return f".{self._dotted} must {self.choice}" if self.path else self.choice

    @property
    def _dotted(self) -> str:
        return ".".join(map(str, self.path))


def compile_type(schema: Mapping[str, Any], compile_part: Compile | None = None) -> Type:
    """Compile one type of a schema. `compile_part` compiles the types inside it."""
    compile_part = compile_part or compile_type
    if "choices" in schema:
        return _choices([compile_part(choice) for choice in schema["choices"]])
    if schema["type"] in _CONTAINERS:
        return _CONTAINERS[schema["type"]](schema, compile_part)
    return _COMPILERS[schema["type"]](schema)


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_integer(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_array(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_object(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return not (value is None or isinstance(value, (str, int, float, list, tuple)) or callable(value))


def _string(schema: Mapping[str, Any]) -> Type:
    if "enum" in schema:
        return _enumeration(schema["enum"], lowercase=schema.get("lowercase", False))
    pattern = re.compile(schema.get("pattern", ""), re.ASCII)
    refusal = schema.get("refusal")
    max_length = schema.get("maxLength", math.inf)
    is_date = schema.get("format") == "date"
    if not pattern.pattern and max_length == math.inf and not is_date:
        return Type(_is_string, _any_string)

    def normalise(value: Any) -> str:
        if not isinstance(value, str):
            raise _wrong_kind("string", value, "be a string value")
        if refusal and not pattern.search(value):
            raise ValidationError(refusal.replace("{}", value), f"match the format {schema['format']}")
        if not pattern.search(value):
            shown = f"/{pattern.pattern.replace('/', chr(92) + '/')}/"
            raise ValidationError(f"String {stringify(value)} must match {shown}", f"match the pattern {shown}")
        if len(value) > max_length:
            raise ValidationError(
                f"String {stringify(value)} is too long (must be {max_length})", f"be shorter than {max_length}"
            )
        if is_date and not _DATE.fullmatch(value):
            raise ValidationError(f"Error: Invalid date string {value}", 'match the format "date"')
        return value

    return Type(_is_string, normalise)


def _any_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _wrong_kind("string", value, "be a string value")


def _enumeration(allowed: list[str], *, lowercase: bool) -> Type:
    choice = f"be one of [{', '.join(map(stringify, allowed))}]"

    def normalise(value: Any) -> str:
        if not isinstance(value, str):
            raise _wrong_kind("string", value, "be a string value")
        text: str = value.lower() if lowercase else value
        if text not in allowed:
            problem = f"Invalid enumeration value {stringify(text)}"
            raise ValidationError(problem, choice, code="enum", value=text, detail=allowed)
        return text

    return Type(_is_string, normalise)


def _boolean(_: Mapping[str, Any]) -> Type:
    def normalise(value: Any) -> bool:
        if value is True or value is False:
            return value
        raise _wrong_kind("boolean", value, "be a boolean")

    return Type(_is_boolean, normalise)


def _number(schema: Mapping[str, Any]) -> Type:
    check = _range("Number", schema)

    def normalise(value: Any) -> float:
        if not _is_number(value):
            raise _wrong_kind("number", value, "be a number value")
        if not math.isfinite(value):
            raise ValidationError("NaN and infinity are not valid", "be a finite number")
        check(value)
        return value  # type: ignore[no-any-return]

    return Type(_is_number, normalise)


def _integer(schema: Mapping[str, Any]) -> Type:
    check = _range("Integer", schema)

    def normalise(value: Any) -> int:
        if not _is_integer(value):
            raise _wrong_kind("integer", value, "be an integer value")
        if abs(value) > MAX_SAFE_INTEGER:
            raise ValidationError("Integer is out of range", "be a valid 32 bit signed integer")
        check(value)
        return int(value)

    return Type(_is_integer, normalise)


def _range(kind: str, schema: Mapping[str, Any]) -> Callable[[float], None]:
    minimum, maximum = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)

    def check(value: float) -> None:
        if value < minimum:
            problem = f"{kind} {stringify(value)} is too small (must be at least {minimum})"
            raise ValidationError(problem, f"be at least {minimum}")
        if value > maximum:
            problem = f"{kind} {stringify(value)} is too big (must be at most {maximum})"
            raise ValidationError(problem, f"be no greater than {maximum}")

    return check


def _any(_: Mapping[str, Any]) -> Type:
    def normalise(value: Any) -> Any:
        return value

    return Type(lambda _: True, normalise)


def _null(_: Mapping[str, Any]) -> Type:
    def normalise(value: Any) -> None:
        if value is not None:
            raise _wrong_kind("null", value, "be a null value")

    return Type(lambda value: value is None, normalise)


def _function(_: Mapping[str, Any]) -> Type:
    def normalise(value: Any) -> Any:
        if callable(value):
            return value
        raise _wrong_kind("function", value, "be a function value")

    return Type(callable, normalise)


def _array(schema: Mapping[str, Any], compile_part: Compile) -> Type:
    item = compile_part(schema["items"]).normalise
    minimum, maximum = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    drops_wrong = schema["items"].get("onError") == "warn"

    def normalise(value: Any) -> list[Any]:
        if not _is_array(value):
            raise _wrong_kind("array", value, "be an array value")
        result = []
        for index, element in enumerate(value):
            try:
                result.append(item(element))
            except ValidationError as error:
                if not drops_wrong:
                    raise error.inside(index) from None
        if len(result) < minimum:
            problem = f"Array requires at least {minimum} items; you have {len(result)}"
            raise ValidationError(problem, f"have at least {minimum} items", code="minItems")
        if len(result) > maximum:
            problem = f"Array requires at most {maximum} items; you have {len(result)}"
            raise ValidationError(problem, f"have at most {maximum} items")
        return result

    return Type(_is_array, normalise)


def _object(schema: Mapping[str, Any], compile_part: Compile) -> Type:
    if "isInstanceOf" in schema:
        return _date() if schema["isInstanceOf"] == "Date" else _instance(schema["isInstanceOf"])
    if "additionalProperties" in schema:
        return _dictionary(compile_part(schema["additionalProperties"]).normalise)
    if "patternProperties" in schema:
        [(pattern, member)] = schema["patternProperties"].items()
        return _dictionary(compile_part(member).normalise, re.compile(pattern, re.ASCII))
    # Firefox checks properties in alphabetical order, which decides the error that is reported first.
    properties = [
        (name, compile_part(member).normalise, member.get("optional", False), member.get("default"))
        for name, member in sorted(schema["properties"].items())
    ]
    unsupported = frozenset(name for name, member in schema["properties"].items() if member.get("unsupported"))
    known = frozenset(schema["properties"])

    def normalise(value: Any) -> dict[str, Any]:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise _no_plain_object(value)
        result: dict[str, Any] = {}
        for name, member, optional, default in properties:
            item = value.get(name)
            if name in unsupported:
                _refuse_unsupported(name, value)
            elif item is None and optional:
                result[name] = default
            elif item is None and name not in value:
                raise required(name)
            else:
                try:
                    result[name] = member(item)
                except ValidationError as error:
                    raise error.inside(name) from None
        if not value.keys() <= known:
            raise unexpected(sorted((str(name) for name in value if name not in known), key=code_units))
        return result

    if all(member.get("type") == "string" for member in schema["properties"].values()):
        return Type(_is_object, _quick_if_all_strings(known, normalise))
    return Type(_is_object, normalise)


def _date() -> Type:
    """A date, normalised to milliseconds since 1970."""

    def normalise(value: Any) -> int:
        if not _is_object(value):
            raise _wrong_kind("object", value, "be an object value")
        if not isinstance(value, datetime.datetime):
            raise ValidationError("Object must be an instance of Date", "be an instance of Date")
        return int(value.timestamp() * 1000)

    return Type(_is_object, normalise)


def _refuse_unsupported(name: str, value: Mapping[str, Any]) -> None:
    if name in value:
        problem = f'Property "{name}" is unsupported by Firefox'
        raise ValidationError(problem, f'not contain an unsupported "{name}" property')


def _instance(name: str) -> Type:
    """An instance of a JavaScript class, such as ImageData."""

    def normalise(value: Any) -> Any:
        if not _is_object(value):
            raise _wrong_kind("object", value, "be an object value")
        if type(value).__name__ != name:
            raise ValidationError(f"Object must be an instance of {name}", f"be an instance of {name}")
        return value

    return Type(_is_object, normalise)


def _dictionary(item: Normalise, allowed: re.Pattern[str] | None = None) -> Type:
    """An object with any keys, or with keys that match a pattern. Keeps their order."""

    def normalise(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _no_plain_object(value)
        result: dict[str, Any] = {}
        rejected: list[str] = []
        for name, member in value.items():
            if allowed is not None and not allowed.search(str(name)):
                rejected.append(str(name))
                continue
            try:
                result[str(name)] = item(member)
            except ValidationError as error:
                raise error.inside(str(name)) from None
        if rejected:
            raise unexpected(sorted(rejected, key=code_units))
        return result

    return Type(_is_object, normalise)


def _quick_if_all_strings(names: frozenset[str], normalise: Normalise) -> Normalise:
    """The same check with a fast path for the common case: all properties are present, each a string."""

    def quick(value: Any) -> dict[str, Any]:
        if type(value) is dict and value.keys() == names:
            for item in value.values():
                if type(item) is not str:
                    break
            else:
                return value.copy()
        return cast(dict[str, Any], normalise(value))

    return quick


def _choices(choices: list[Type]) -> Type:
    def matches(value: Any) -> bool:
        return any(choice.matches(value) for choice in choices)

    def normalise(value: Any) -> Any:
        wrong: dict[str, ValidationError] = {}
        for choice in choices:
            try:
                return choice.normalise(value)
            except ValidationError as error:
                wrong[error.as_choice] = error
        if len(wrong) == 1:
            raise next(iter(wrong.values()))
        *others, last = wrong
        shown = "" if value is None or _is_object(value) or _is_array(value) else f" {stringify(value)}"
        either = ", ".join([*others, f"or {last}"])
        problem = f"Value{shown} must either: {either}"
        raise ValidationError(problem, f"must either [{either}]", code="choices", detail=list(wrong.values()))

    return Type(matches, normalise)


def required(name: str) -> ValidationError:
    """The error for a missing property."""
    return ValidationError(
        f'Property "{name}" is required', f'contain the required "{name}" property', code="required", detail=name
    )


def _wrong_kind(kind: str, value: Any, choice: str) -> ValidationError:
    return ValidationError(lambda: f"Expected {kind} instead of {stringify(value)}", choice, code=kind, value=value)


def _no_plain_object(value: Any) -> ValidationError:
    if not _is_object(value):
        return _wrong_kind("object", value, "be an object value")
    kind = type(value).__name__
    return ValidationError(f"Expected a plain JavaScript object, got a {kind}", "be a plain JavaScript object")


def unexpected(names: list[str]) -> ValidationError:
    """The error for unknown properties."""
    if len(names) == 1:
        problem, choice = f'Unexpected property "{names[0]}"', f'not contain an unexpected "{names[0]}" property'
    else:
        listed = ", ".join(names)
        problem, choice = f"Unexpected properties: {listed}", f"not contain the unexpected properties [{listed}]"
    return ValidationError(problem, choice, code="unexpected", detail=names)


_COMPILERS: Mapping[str, Callable[[Mapping[str, Any]], Type]] = {
    "string": _string,
    "boolean": _boolean,
    "number": _number,
    "integer": _integer,
    "function": _function,
    "null": _null,
    "any": _any,
    "clone": _any,
    "json": _any,
    "unsent": _any,
}
_CONTAINERS: Mapping[str, Callable[[Mapping[str, Any], Compile], Type]] = {"array": _array, "object": _object}
