"""The namespace alarms. Alarms are stored in the profile (`extension_data/alarms.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.extension_data import alarms
from hatbox.extension_data.alarms import Alarm, AlarmFired
from hatbox.javascript.text import well_formed
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the alarms of a profile."""
    return _Alarms(schema, services)


class _Alarms(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._clock = services.clock
        decode = msgspec.json.Decoder(AlarmFired).decode
        fired = ChangeEvents(services.store, "alarms").event("onAlarm", alarms.FIRED, decode)
        super().__init__(schema, services.store, {"onAlarm": EventBinding(fired, _alarm_args)})

    def create(self, caller: Caller, name: str | None, info: Mapping[str, Any]) -> asyncio.Future[Any]:
        now = int(self._clock.time() * 1000)
        return self._write("create", alarms.create, caller.id, well_formed(name or ""), info, now)

    def get(self, caller: Caller, name: str | None) -> asyncio.Future[Any]:
        return self._read("get", _get, caller.id, well_formed(name or ""))

    def get_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getAll", _get_all, caller.id)

    def clear(self, caller: Caller, name: str | None) -> asyncio.Future[Any]:
        return self._write("clear", alarms.clear, caller.id, well_formed(name or ""))

    def clear_all(self, caller: Caller) -> asyncio.Future[Any]:
        return self._write("clearAll", alarms.clear_all, caller.id)


def _get(transaction: Transaction, extension: str, name: str) -> Any:
    alarm = alarms.get(transaction, extension, name)
    return UNDEFINED if alarm is None else _to_script(alarm)


def _get_all(transaction: Transaction, extension: str) -> list[dict[str, Any]]:
    return [_to_script(alarm) for alarm in alarms.get_all(transaction, extension)]


def _to_script(alarm: Alarm) -> dict[str, Any]:
    return {
        "name": alarm.name,
        "scheduledTime": alarm.scheduled_time,
        "periodInMinutes": alarm.period_in_minutes,
    }


def _alarm_args(caller: Caller, fired: AlarmFired) -> tuple[Any] | None:
    return (_to_script(fired.alarm),) if fired.extension == caller.id else None
