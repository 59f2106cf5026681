"""Matches the arguments of a call with the parameters of a function. Knows no function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from hatbox.errors import ArgumentError
from hatbox.schema.types import Type, ValidationError, compile_type

__all__ = ["NormaliseCall", "bind", "compile_call", "separate_callback"]

NormaliseCall: TypeAlias = Callable[[Sequence[Any]], list[Any]]


class _Parameter(NamedTuple):
    name: str
    type: Type
    optional: bool
    default: Any


def compile_call(path: str, parameters: Sequence[Mapping[str, Any]]) -> NormaliseCall:
    """Compile a function that returns one normalised argument for each parameter of `path`."""
    expected = [_parameter(each) for each in parameters]
    normalisers = [each.type.normalise for each in expected]

    def normalise_call(arguments: Sequence[Any]) -> list[Any]:
        if len(arguments) == len(normalisers):  # fast path: nearly every call is valid
            try:
                return [normalise(argument) for normalise, argument in zip(normalisers, arguments, strict=True)]
            except ValidationError:
                pass
        matched = _match(expected, list(arguments))
        if matched is None:
            raise ArgumentError(f"Incorrect argument types for {path}.")
        return [_normalise(path, *pair) for pair in zip(expected, matched, strict=True)]

    return normalise_call


def _parameter(schema: Mapping[str, Any]) -> _Parameter:
    return _Parameter(schema["name"], compile_type(schema), schema.get("optional", False), schema.get("default"))


def separate_callback(arguments: Sequence[Any]) -> list[Any]:
    """The unchecked arguments in a list, and the callback, or None.

    For functions whose overloads a schema cannot describe. They check the arguments themselves.
    """
    if arguments and callable(arguments[-1]):
        return [list(arguments[:-1]), arguments[-1]]
    return [list(arguments), None]


def bind(path: str, names: Sequence[str], arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """Positional and keyword arguments as one list in the order of the parameters."""
    bound = list(arguments)
    for name in names[len(bound) :]:
        if name not in named:
            break
        bound.append(named[name])
    if len(bound) != len(arguments) + len(named):
        raise ArgumentError(f"{path} takes these arguments, each once: {', '.join(names)}")
    return bound


def _match(expected: Sequence[_Parameter], arguments: list[Any]) -> list[Any] | None:
    """One argument for each parameter, with None for optional ones; None if the arguments do not match."""
    if not expected:
        return None if arguments else []
    (first, *rest) = expected
    if arguments and (first.type.matches(arguments[0]) or (first.optional and arguments[0] is None)):
        matched = _match(rest, arguments[1:])
        if matched is not None:
            return [arguments[0], *matched]
    if first.optional:
        matched = _match(rest, arguments)
        if matched is not None:
            return [None, *matched]
    return None


def _normalise(path: str, parameter: _Parameter, argument: Any) -> Any:
    if argument is None and parameter.optional:
        if parameter.default is None:
            return None
        argument = parameter.default
    try:
        return parameter.type.normalise(argument)
    except ValidationError as error:
        raise ArgumentError(f"Type error for parameter {parameter.name} ({error}) for {path}.") from None
