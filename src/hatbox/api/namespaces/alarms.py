"""The namespace alarms. What is to fire is in the profile; who runs an extension sees to it that it does.

The rules are functions of a transaction. Times are milliseconds since 1970, as scripts say them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.javascript.text import well_formed
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["CHANGED", "KIND", "Scheduled", "clear_alarms", "fire_due", "implement", "next_due"]

KIND: Final = "alarm"
CHANGED: Final = "alarms.changed"
"""The topic of changes to when the next alarm of an extension is due."""

_FIRED: Final = "alarms.fired"
_NEXT: Final = "alarm.next"
"""The kind of what says when the next alarm is due, or earlier: whoever sets many must not have all looked through."""
_MINUTE: Final = 60_000


class Scheduled(msgspec.Struct, frozen=True):
    """When the next alarm of an extension is due; None if it has none."""

    extension: str
    next: float | None


class _Alarm(msgspec.Struct, frozen=True):
    name: str
    scheduled_time: float
    period_in_minutes: float | None

    def to_script(self) -> dict[str, Any]:
        """As a script sees it."""
        return {
            "name": self.name,
            "scheduledTime": self.scheduled_time,
            "periodInMinutes": self.period_in_minutes,
        }


class _Fired(msgspec.Struct, frozen=True):
    extension: str
    alarm: _Alarm


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the alarms of a profile."""
    return _Alarms(surface, services)


class _Alarms(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        self._clock = services.clock
        fired = ChangeEvents(services.store, "alarms").event("onAlarm", _FIRED, msgspec.json.Decoder(_Fired).decode)
        super().__init__(surface, services.store, {"onAlarm": EventBinding(fired, _told)})

    def create(self, caller: Caller, name: str | None, info: Mapping[str, Any]) -> asyncio.Future[Any]:
        now = int(self._clock.time() * 1000)
        return self._write("create", _create, caller.id, well_formed(name or ""), info, now)

    def get(self, caller: Caller, name: str | None) -> asyncio.Future[Any]:
        return self._read("get", _get, caller.id, well_formed(name or ""))

    def get_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getAll", lambda transaction: [each.to_script() for each in _all(transaction, caller.id)])

    def clear(self, caller: Caller, name: str | None) -> asyncio.Future[Any]:
        return self._write("clear", _clear, caller.id, well_formed(name or ""))

    def clear_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._write("clearAll", _clear_all, caller.id)


def _told(caller: Caller, fired: _Fired) -> tuple[Any] | None:
    return (fired.alarm.to_script(),) if fired.extension == caller.id else None


def _create(transaction: Transaction, extension: str, name: str, info: Mapping[str, Any], now: int) -> None:
    """Set an alarm, in the place of the one that had its name, and behind all others."""
    period = info["periodInMinutes"]
    when = info["when"] or now + (info["delayInMinutes"] or period or 0) * _MINUTE  # what is 0 counts as left out
    replaces = transaction.extensions.get(extension, KIND, name) is not None
    transaction.extensions.delete(extension, KIND, name)
    _put(transaction, extension, _Alarm(name, when, period))
    noted = None if replaces else transaction.extensions.get(extension, _NEXT, "")
    if noted is None:
        _store_next_due(transaction, extension)
    elif when < float(noted):
        _note(transaction, extension, when)


def _get(transaction: Transaction, extension: str, name: str) -> Any:
    value = transaction.extensions.get(extension, KIND, name)
    return _decode(value).to_script() if value else UNDEFINED


def _clear(transaction: Transaction, extension: str, name: str) -> bool:
    if transaction.extensions.get(extension, KIND, name) is None:
        return False
    transaction.extensions.delete(extension, KIND, name)
    _store_next_due(transaction, extension)
    return True


def _clear_all(transaction: Transaction, extension: str) -> bool:
    if not _all(transaction, extension):
        return False
    transaction.extensions.clear(extension, KIND)
    _store_next_due(transaction, extension)
    return True


def clear_alarms(transaction: Transaction, extension: str) -> None:
    """Drop all alarms of an extension that does not run: nobody waits for them."""
    for kind in (KIND, _NEXT):
        transaction.extensions.clear(extension, kind)


def fire_due(transaction: Transaction, extension: str, now: float) -> None:
    """Tell of every alarm that is due, the earliest first. One with a period is set again, from now on."""
    due = sorted((each for each in _all(transaction, extension) if each.scheduled_time <= now), key=_time)
    for alarm in due:
        transaction.changes.append(_FIRED, _encode(_Fired(extension, alarm)))
        if alarm.period_in_minutes:
            again = now + alarm.period_in_minutes * _MINUTE
            _put(transaction, extension, msgspec.structs.replace(alarm, scheduled_time=again))
        else:
            transaction.extensions.delete(extension, KIND, alarm.name)
    _store_next_due(transaction, extension)


def next_due(transaction: Transaction, extension: str) -> float | None:
    """When the next alarm is due."""
    return min(map(_time, _all(transaction, extension)), default=None)


def _all(transaction: Transaction, extension: str) -> list[_Alarm]:
    return [_decode(value) for _, _, value in transaction.extensions.find(KIND, extension)]


def _put(transaction: Transaction, extension: str, alarm: _Alarm) -> None:
    transaction.extensions.put(extension, KIND, alarm.name, _encode(alarm))


def _store_next_due(transaction: Transaction, extension: str) -> None:
    _note(transaction, extension, next_due(transaction, extension))


def _note(transaction: Transaction, extension: str, when: float | None) -> None:
    if when is None:
        transaction.extensions.delete(extension, _NEXT, "")
    else:
        transaction.extensions.put(extension, _NEXT, "", _encode(when))
    transaction.changes.append(CHANGED, _encode(Scheduled(extension, when)))


def _time(alarm: _Alarm) -> float:
    return alarm.scheduled_time


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Alarm).decode
