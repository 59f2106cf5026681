"""Registers the Chromium engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hatbox.engines.selection import EngineSelection
from hatbox.errors import MissingExtra

if TYPE_CHECKING:
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.engines.registry import EngineServices
    from hatbox.identity.model import IdentityLike

__all__ = ["DISPLAY_NAME", "HAS_WINDOWS", "create", "create_chromium"]

DISPLAY_NAME: Final = "Chromium"
HAS_WINDOWS: Final = True


def create(services: EngineServices, selection: EngineSelection) -> ChromiumRunner:
    """The selected Chromium."""
    indicator = None if selection.indicator else False
    return create_chromium(
        services,
        headless=selection.headless,
        browser=selection.browser,
        indicator=indicator,
        identities=selection.identities,
    )


def create_chromium(
    services: EngineServices,
    *,
    headless: bool = False,
    browser: str | os.PathLike[str] | None = None,
    indicator: bool | None = None,
    downloads: str | os.PathLike[str] | None = None,
    identities: IdentityLike | Sequence[IdentityLike] | None = None,
    attach: bool = False,
) -> ChromiumRunner:
    """A Chromium with these options; see Profile.chromium. Raises MissingExtra without Playwright."""
    try:
        from hatbox.engines.chromium.attachable_engine import WantedOptions
        from hatbox.engines.chromium.attaching_runner import AttachingRunner
        from hatbox.engines.chromium.chromium_runner import ChromiumRunner
        from hatbox.engines.chromium.engine import ChromiumEngine
        from hatbox.engines.navigation_rules import NavigationRules
    except ModuleNotFoundError as error:
        if error.name != "playwright":
            raise
        raise MissingExtra("chromium", "Playwright, which controls Chromium,") from error
    rules = NavigationRules(services.store, services.rules)
    engine = ChromiumEngine(
        services.store,
        services.cookies,
        services.identities,
        headless=headless,
        browser=browser,
        indicator=indicator,
        downloads=downloads,
        requests=services.web_requests,
        rules=rules,
        buttons=services.buttons,
        page_scripts=services.create_page_scripts() if services.create_page_scripts is not None else None,
        hosted=services.hosted_pages,
        download_list=services.downloads,
    )
    arguments = engine, services.store, services.identities, services.tabs, identities, services.endpoint_grants
    if attach:
        wanted = WantedOptions(headless, browser, indicator, downloads)
        runner: ChromiumRunner = AttachingRunner(
            *arguments, wanted=wanted, requests=services.web_requests, hosted=services.hosted_pages
        )
    else:
        runner = ChromiumRunner(*arguments)
    rules.serves = runner.serves
    return runner
