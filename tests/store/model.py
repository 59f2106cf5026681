"""What the identities of a profile should be, with nothing but a list and a dictionary. Shares no code with Hatbox."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

COLORS = ("gray", "yellow", "orange", "red", "pink", "purple", "violet", "blue", "cyan", "green")
ICONS = ("fingerprint", "briefcase", "dollar", "cart", "vacation", "gift", "food", "fruit", "pet", "tree", "chill")


class Identity(NamedTuple):
    """An identity as it should be."""

    name: str
    icon: str
    color: str
    id: str
    hidden: bool = False


class Refusal(Exception):
    """The call should be refused; `kind` is the name of the error's class."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Model:
    """A new profile, and what the calls make of it."""

    def __init__(self) -> None:
        self.order = [identity_id(number) for number in (1, 2, 3, 4)]
        self.identities = {
            self.order[0]: Identity("Personal", "fingerprint", "blue", self.order[0]),
            self.order[1]: Identity("Work", "briefcase", "orange", self.order[1]),
            self.order[2]: Identity("Banking", "dollar", "green", self.order[2]),
            self.order[3]: Identity("Shopping", "cart", "pink", self.order[3]),
        }
        self.events: list[tuple[str, Identity]] = []
        self.next_number = 6

    def __call__(self, call: str, /, *arguments: Any, **named: Any) -> Any:
        """Do one call: what it resolves to, or Refusal."""
        return getattr(self, call)(*arguments, **named)

    def copy(self) -> Model:
        other = copy.copy(self)
        other.order, other.identities, other.events = [*self.order], {**self.identities}, [*self.events]
        return other

    def listed(self) -> list[Identity]:
        return [self.identities[id_] for id_ in self.order]

    def get(self, id_: str) -> Identity:
        if id_ not in self.identities:
            raise Refusal("InvalidIdentity")
        return self.identities[id_]

    def query(self, name: str | None = None) -> list[Identity]:
        return [identity for identity in self.listed() if not name or identity.name == name]

    def create(self, name: str, *, color: str, icon: str) -> Identity:
        self._check(icon=icon)
        self._check(color=color)
        self._check(name=name)
        identity = Identity(name, icon, color, identity_id(self.next_number))
        self.next_number += 1
        self.order.append(identity.id)
        return self._put("created", identity)

    def update(self, id_: str, **changed: Any) -> Identity:
        identity = self.get(id_)
        for field in ("color", "icon", "name"):
            if field in changed:
                self._check(**{field: changed[field]})
        return self._put("updated", identity._replace(**changed))

    def remove(self, id_: str) -> Identity:
        identity = self.get(id_)
        self.order.remove(id_)
        self.events.append(("removed", self.identities.pop(id_)))
        return identity

    def move(self, ids: Sequence[str], position: int) -> None:
        if not ids:
            return
        if not -1 <= position <= len(self.order) - len(ids):
            raise Refusal("InvalidPosition")
        for index, id_ in enumerate(ids):
            self.get(id_)
            if id_ in ids[:index]:
                raise Refusal("DuplicateIdentity")
        self.order = moved(self.order, ids, position)
        self.events += [("moved", self.identities[id_]) for id_ in ids]

    def hide(self, id_: str) -> None:
        if not self.get(id_).hidden:
            self._put("hidden", self.get(id_)._replace(hidden=True))

    def show(self, id_: str) -> None:
        if self.get(id_).hidden:
            self._put("shown", self.get(id_)._replace(hidden=False))

    def _check(self, name: str = "x", color: str = "red", icon: str = "circle") -> None:
        if not name.strip():
            raise Refusal("InvalidName")
        if color not in COLORS:
            raise Refusal("InvalidColor")
        if icon not in (*ICONS, "circle", "fence"):
            raise Refusal("InvalidIcon")

    def _put(self, event: str, identity: Identity) -> Identity:
        self.identities[identity.id] = identity
        self.events.append((event, identity))
        return identity


def identity_id(number: int) -> str:
    return f"firefox-container-{number}"


def moved(order: Sequence[Any], block: Sequence[Any], position: int) -> list[Any]:
    """The order after the block was taken out, and put back, in its old order, before what is then at `position`."""
    others = [item for item in order if item not in block]
    place = len(others) if position == -1 else position
    return [*others[:place], *(item for item in order if item in block), *others[place:]]
