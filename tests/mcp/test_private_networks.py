"""An agent without a limit of hosts reaches no private network: in its own browser, and in that of another program."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.grants import grant
from hatbox.mcp import document_addresses
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until

LABELS = ("plain", "redirected", "blank", "opened")


@pytest.fixture(autouse=True)
def _only_localhost_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grant, "is_private_host", lambda host: host == "localhost")
    monkeypatch.setattr(document_addresses, "is_private_address", lambda _: False)


async def _leaves_nowhere(call: Caller, site: AgentSite, labels: tuple[str, ...]) -> None:
    assert "have to be named" in await call("browser_navigate", url=site.url("/secret", "localhost"))
    for label in labels:
        page = await call("browser_navigate", url=site.url("/leave"))
        shown = await call("browser_click", target=reference(page, label))
        shown += await call("browser_snapshot")
        assert "content of the other host" not in shown
        assert label in ("blank", "opened") or "have to be named" in shown  # of a new page, it may come later


@pytest.mark.browser
def test_no_document_of_a_private_host_is_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await _leaves_nowhere(call, site, LABELS)
        assert {host for host, _ in site.requests} == {"127.0.0.1"}
        # A name of the public DNS with a private address.
        monkeypatch.setattr(document_addresses, "is_private_address", lambda address: address == "127.0.0.1")
        for tool in ("browser_navigate", "browser_snapshot"):
            shown = await call(tool, **({"url": site.url("/form")} if tool == "browser_navigate" else {}))
            assert "have to be named" in shown
            assert "Send" not in shown
        assert "about:blank" in await call("browser_tabs", action="list")

    run(tmp_path, test, ["*"])


@pytest.mark.browser
def test_nor_in_the_browser_of_another_program(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        async with (
            hatbox.open(tmp_path / "profile.db") as other,
            other.chromium(headless=True, identities="Work"),
        ):
            await _leaves_nowhere(call, site, LABELS[:2])
            assert {host for host, _ in site.requests} == {"127.0.0.1"}
            page = await call("browser_navigate", url=site.url("/leave"))
            await call("browser_click", target=reference(page, "opened"))  # the first request of a new page is sent
            await until(lambda: any(host == "localhost" for host, _ in site.requests))
            assert "content of the other host" not in await call("browser_snapshot")
            assert call.session.browser._runner.attached_to is not None  # type: ignore[union-attr] # it has started
            await call.session.close()

    run(tmp_path, test, ["*"])
