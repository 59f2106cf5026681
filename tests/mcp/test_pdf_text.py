"""The tool fetch shows the text of a PDF, and a hostile PDF ends only the process that reads it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from hatbox.mcp import pdf_reader
from hatbox.mcp import pdf_text as reading
from hatbox.mcp.agent_session import AgentOptions
from hatbox.mcp.pdf_text import first_page, is_pdf, pdf_text
from hatbox.mcp.tool_output import ToolFailed
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.store.in_loop import in_loop

pytest.importorskip("pypdf")


@pytest.mark.process
def test_an_agent_reads_the_text_of_a_pdf(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        shown = await call("fetch", url=site.url("/pdf"))
        assert "[Page 1 of 2]\nQuarterly report\n[Page 2 of 2]\n" in shown
        assert shown.index("<untrusted") < shown.index("Quarterly")
        shown = await call("fetch", url=site.url("/pdf#zoom=2&page=2"))
        assert "SALES" in shown and "Quarterly" not in shown
        assert "has no page 7" in await call("fetch", url=site.url("/pdf#page=7"))

    run(tmp_path, test, options=AgentOptions(), runs=asyncio.run)


@pytest.mark.process
def test_a_pdf_that_cannot_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cannot be read" in asyncio.run(pdf_text(b"%PDF-1.4 cut", 1))
    endless = tmp_path / "endless.py"
    endless.write_text("import sys; sys.stdin.buffer.read()\nwhile True: pass", "utf-8")
    monkeypatch.setattr(reading, "_READER", endless)
    monkeypatch.setattr(reading, "_SECONDS", 0.05)
    with pytest.raises(ToolFailed, match="was not read within"):
        asyncio.run(pdf_text(b"", 1))


@in_loop
async def test_two_readers_run_at_once_and_get_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    environments: list[dict[str, str]] = []
    may_end = asyncio.Event()

    class Reader:
        returncode = 0

        async def communicate(self, _: bytes) -> tuple[bytes, None]:
            await may_end.wait()
            return b"text", None

        def kill(self) -> None:
            raise ProcessLookupError

        async def wait(self) -> int:
            return 0

    async def start(*_: object, env: dict[str, str], **__: object) -> Reader:
        environments.append(env)
        return Reader()

    monkeypatch.setenv("HATBOX_KEY", "secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    monkeypatch.setattr(reading, "_SLOTS", asyncio.Semaphore(reading._SLOTS._value))
    running = [asyncio.ensure_future(pdf_text(b"", 1)) for _ in range(5)]
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(environments) == 2
    may_end.set()
    assert await asyncio.gather(*running) == ["text"] * 5
    assert not [name for each in environments for name in each if name in ("HATBOX_KEY", "PGPASSWORD")]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_the_reader_keeps_lower_limits_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5, 5))
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limits.append(pair))
    pdf_reader._limit()
    assert limits == [(5, 5), (5, 5), (0, 0), (0, 0)]

    def refuse(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    with pytest.raises(ValueError, match="exceeds"):
        pdf_reader._limit()
    monkeypatch.setattr(sys, "platform", "darwin")
    pdf_reader._limit()


def test_what_a_pdf_is_and_which_page_a_url_names() -> None:
    assert is_pdf("Application/PDF; charset=x") and not is_pdf("text/html") and not is_pdf("")
    for url, page in (("https://a.example/#page=3", 3), ("https://a.example/?page=3", 1), ("https://a.example/#x", 1)):
        assert first_page(url) == page
