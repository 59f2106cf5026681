"""Alarms of extensions in the profile: transaction functions. Times are milliseconds since 1970.

The process that runs the extension fires them (`extensions/alarm_scheduler.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "CHANGED",
    "FIRED",
    "KIND",
    "Alarm",
    "AlarmFired",
    "NextAlarm",
    "clear",
    "clear_all",
    "create",
    "delete_alarms",
    "fire_due",
    "get",
    "get_all",
    "next_due",
]

KIND: Final = "alarm"
CHANGED: Final = "alarms.changed"
"""The topic of changes to the time of the next alarm. The payload is a NextAlarm."""
FIRED: Final = "alarms.fired"

_NEXT: Final = "alarm.next"
"""The kind of the stored lower bound for the next due time. It saves reading all alarms for each new one."""
_MINUTE: Final = 60_000


class NextAlarm(msgspec.Struct, frozen=True):
    """The time of the next alarm of an extension, or None."""

    extension: str
    next: float | None


class Alarm(msgspec.Struct, frozen=True):
    """An alarm."""

    name: str
    scheduled_time: float
    period_in_minutes: float | None


class AlarmFired(msgspec.Struct, frozen=True):
    """Payload of alarms.onAlarm."""

    extension: str
    alarm: Alarm


def create(transaction: Transaction, extension: str, name: str, info: Mapping[str, Any], now: int) -> None:
    """Create an alarm as the last one, replacing the alarm with the same name."""
    period = info["periodInMinutes"]
    when = info["when"] or now + (info["delayInMinutes"] or period or 0) * _MINUTE  # 0 is the same as omitted
    replaces = get(transaction, extension, name) is not None
    transaction.extensions.delete(extension, KIND, name)
    _put(transaction, extension, Alarm(name, when, period))
    stored = None if replaces else transaction.extensions.get(extension, _NEXT, "")
    if stored is None:
        _update_next_due(transaction, extension)
    elif when < float(stored):
        _store_next_due(transaction, extension, when)


def get(transaction: Transaction, extension: str, name: str) -> Alarm | None:
    """An alarm by name."""
    value = transaction.extensions.get(extension, KIND, name)
    return _decode(value) if value else None


def get_all(transaction: Transaction, extension: str) -> list[Alarm]:
    """All alarms of an extension, in the order of creation."""
    return [_decode(value) for _, _, value in transaction.extensions.find(KIND, extension)]


def clear(transaction: Transaction, extension: str, name: str) -> bool:
    """Delete an alarm; returns whether it existed."""
    if get(transaction, extension, name) is None:
        return False
    transaction.extensions.delete(extension, KIND, name)
    _update_next_due(transaction, extension)
    return True


def clear_all(transaction: Transaction, extension: str) -> bool:
    """Delete all alarms; returns whether any existed."""
    if not get_all(transaction, extension):
        return False
    transaction.extensions.clear(extension, KIND)
    _update_next_due(transaction, extension)
    return True


def delete_alarms(transaction: Transaction, extension: str) -> None:
    """Delete all alarms of an extension that is not running. Emits no change: no scheduler watches them."""
    for kind in (KIND, _NEXT):
        transaction.extensions.clear(extension, kind)


def fire_due(transaction: Transaction, extension: str, now: float) -> None:
    """Fire every due alarm, the earliest first, and reschedule periodic alarms."""
    due = sorted((alarm for alarm in get_all(transaction, extension) if alarm.scheduled_time <= now), key=_time)
    for alarm in due:
        transaction.changes.append(FIRED, _encode(AlarmFired(extension, alarm)))
        if alarm.period_in_minutes:
            next_time = now + alarm.period_in_minutes * _MINUTE
            _put(transaction, extension, msgspec.structs.replace(alarm, scheduled_time=next_time))
        else:
            transaction.extensions.delete(extension, KIND, alarm.name)
    _update_next_due(transaction, extension)


def next_due(transaction: Transaction, extension: str) -> float | None:
    """The time of the next alarm, or None."""
    return min(map(_time, get_all(transaction, extension)), default=None)


def _put(transaction: Transaction, extension: str, alarm: Alarm) -> None:
    transaction.extensions.put(extension, KIND, alarm.name, _encode(alarm))


def _update_next_due(transaction: Transaction, extension: str) -> None:
    _store_next_due(transaction, extension, next_due(transaction, extension))


def _store_next_due(transaction: Transaction, extension: str, when: float | None) -> None:
    if when is None:
        transaction.extensions.delete(extension, _NEXT, "")
    else:
        transaction.extensions.put(extension, _NEXT, "", _encode(when))
    transaction.changes.append(CHANGED, _encode(NextAlarm(extension, when)))


def _time(alarm: Alarm) -> float:
    return alarm.scheduled_time


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Alarm).decode
