"""Answers the question before a change of settings: which typed text would the engine lose?"""

from __future__ import annotations

from hatbox.engines.base import Engine
from hatbox.engines.engine_reports import EngineReports
from hatbox.identities.settings_check import InputAtRisk, SettingsCheck, answer_settings_check

__all__ = ["answer_check"]


async def answer_check(engine: Engine, reports: EngineReports, check: SettingsCheck) -> None:
    """Write the answer of an engine that serves the identity."""
    found = await engine.input_at_risk(check.cookie_store_id, uses_proxy=check.uses_proxy)
    at_risk = [InputAtRisk(tab_id, fields) for tab_id, fields in sorted(found.items())]
    await reports.write(lambda transaction: answer_settings_check(transaction, check, at_risk))
