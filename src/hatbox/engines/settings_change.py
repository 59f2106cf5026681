"""Changes the settings of an identity whose pages may be open: asks the running engine first which input is lost."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import Final

import msgspec

from hatbox.engines.running_engines import engine_for
from hatbox.errors import InputWouldBeLost, InvalidSetting
from hatbox.identities.service import Identities
from hatbox.identities.settings_check import (
    SETTINGS_CHECKED,
    InputAtRisk,
    SettingsCheck,
    decode_settings_check_answer,
    request_settings_check,
)
from hatbox.identity.model import ContextualIdentity
from hatbox.identity.proxy_url import DIRECT_PROXY
from hatbox.identity.settings import IdentitySettings, SettingValue, checked_settings
from hatbox.store.base import ChangeRecord, Store
from hatbox.store.recorded_calls import unrecorded

__all__ = ["change_settings"]

_ANSWER_TIMEOUT: Final = 25.0  # seconds; a page that does not respond is given up after 5 to 20
_WITHOUT_PAGES: Final = frozenset({"HTTP"})  # engines without typed input


async def change_settings(
    store: Store,
    identities: Identities,
    identity: ContextualIdentity,
    changed: Mapping[str, SettingValue],
    *,
    force: bool,
) -> IdentitySettings:
    """Set settings. Without `force`, raises InputWouldBeLost if an engine would lose typed input; nothing is changed.

    `changed` are arguments of Identities.set_settings.
    """
    if not force and await _would_change(identities, identity, changed):
        engine = await engine_for(store, identity.cookie_store_id)
        if engine is not None and engine.engine not in _WITHOUT_PAGES:
            at_risk = await _input_at_risk(store, identity.cookie_store_id, uses_proxy=_sets_proxy(changed))
            if at_risk:
                raise InputWouldBeLost(identity.name, {each.tab_id: each.fields for each in at_risk})
    return await identities.set_settings(identity, **changed)


async def _would_change(
    identities: Identities, identity: ContextualIdentity, changed: Mapping[str, SettingValue]
) -> bool:
    try:
        current = msgspec.structs.asdict(await identities.settings(identity))
    except InvalidSetting:  # a stored value that this version cannot use: the user replaces it
        return True
    return any(current[name] != value for name, value in checked_settings(**changed).items())


def _sets_proxy(changed: Mapping[str, SettingValue]) -> bool:
    return checked_settings(**changed).get("proxy") not in (None, DIRECT_PROXY)


async def _input_at_risk(store: Store, cookie_store_id: str, *, uses_proxy: bool) -> tuple[InputAtRisk, ...]:
    check = SettingsCheck(uuid.uuid4().hex, cookie_store_id, uses_proxy)
    answered: asyncio.Future[tuple[InputAtRisk, ...]] = asyncio.get_running_loop().create_future()

    def on_change(record: ChangeRecord) -> None:
        if record.topic == SETTINGS_CHECKED and not answered.done():
            answer = decode_settings_check_answer(record.payload)
            if answer.id == check.id:
                answered.set_result(answer.at_risk)

    store.subscribe(on_change)
    try:
        with unrecorded():  # the settings are not changed yet
            requested = store.write(lambda transaction: request_settings_check(transaction, check))
        await requested
        async with asyncio.timeout(_ANSWER_TIMEOUT):
            return await answered
    except TimeoutError:
        return (InputAtRisk(0, ("the browser did not answer",)),)
    finally:
        store.unsubscribe(on_change)
