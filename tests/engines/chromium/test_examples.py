"""The extensions of examples/, with their own tests, in a real Chromium."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.testing.site import LoopbackSite, Request
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno

EXAMPLES = Path(__file__).parents[3] / "examples"


def load(example: str) -> ModuleType:
    path = EXAMPLES / example / f"test_{example.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def engine(hatbox_loop: asyncio.Runner, profile: hatbox.Profile, browser: str) -> ChromiumRunner:
    runner = profile.chromium(headless=True, browser=browser)
    hatbox_loop.run(runner.__aenter__())
    return runner


class Requests(list[Request]):
    """Without requests for favicons, which the HTTP engine does not send."""

    def append(self, request: Request) -> None:
        if request.path != "/favicon.ico":
            super().append(request)


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as running:
        running.requests = Requests()
        yield running


assignment = load("site-assignment")
bank = assignment.bank
test_an_assigned_site_opens_in_its_container = assignment.test_an_assigned_site_opens_in_its_container
test_a_link_in_a_page_leaves_the_page_where_it_is = assignment.test_a_link_in_a_page_leaves_the_page_where_it_is
test_a_redirect_to_an_assigned_site_is_moved_too = assignment.test_a_redirect_to_an_assigned_site_is_moved_too

temporary = load("temporary-containers")
shop = temporary.shop
test_each_tab_has_its_own_cookies = temporary.test_each_tab_has_its_own_cookies
test_the_container_goes_with_its_last_tab = temporary.test_the_container_goes_with_its_last_tab
