"""What an endpoint does with each CDP method, by the kind of its session: the table is methods.json. Pure data.

A method that the table does not list is refused. Its part `refuse` lists the methods that were reviewed and refused, so
that a test can name those of a newer Chromium.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

__all__ = ["Action", "SessionKind", "action_of", "reviewed_methods"]

Action = Literal["pass", "map", "check", "answer", "refuse"]
"""`pass`: as it is. `map`: with the browser context of the identity. `check`: if its arguments, its result or both are
those of the identity. `answer`: the endpoint answers, Chromium does not receive it."""

SessionKind = Literal["root", "page", "worker", "tab", "devtools"]
"""`root`: the browser. `page`: a page or frame. `tab`: the parent of a page. `devtools`: the page of a DevTools
window."""

_Methods = dict[str, tuple[str, ...]]  # by domain


class _Table(msgspec.Struct, frozen=True):
    kinds: dict[SessionKind, dict[Action, _Methods]]
    refuse: _Methods


def action_of(kind: SessionKind, method: str) -> Action:
    """What to do with a method that a client has sent to a session."""
    return _actions()[kind].get(method, "refuse")


def reviewed_methods() -> frozenset[str]:
    """All methods of the table, refused ones included."""
    table = _table()
    allowed = {method for actions in _actions().values() for method in actions}
    return frozenset(allowed | set(_names(table.refuse)))


@cache
def _table() -> _Table:
    return msgspec.json.decode(files(__package__).joinpath("methods.json").read_bytes(), type=_Table)


@cache
def _actions() -> dict[SessionKind, dict[str, Action]]:
    actions: dict[SessionKind, dict[str, Action]] = {
        kind: {name: action for action, methods in listed.items() for name in _names(methods)}
        for kind, listed in _table().kinds.items()
    }
    actions["devtools"] = actions["page"] | actions["devtools"]
    return actions


def _names(methods: _Methods) -> list[str]:
    return [f"{domain}.{name}" for domain, names in methods.items() for name in names]
