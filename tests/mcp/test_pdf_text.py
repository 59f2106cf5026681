"""The tool fetch shows the text of a PDF, and a hostile PDF ends only the process that reads it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hatbox.mcp import pdf_text as reading
from hatbox.mcp.agent_session import AgentOptions
from hatbox.mcp.pdf_text import first_page, is_pdf, pdf_text
from hatbox.mcp.tool_output import ToolFailed
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run

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


def test_what_a_pdf_is_and_which_page_a_url_names() -> None:
    assert is_pdf("Application/PDF; charset=x") and not is_pdf("text/html") and not is_pdf("")
    for url, page in (("https://a.example/#page=3", 3), ("https://a.example/?page=3", 1), ("https://a.example/#x", 1)):
        assert first_page(url) == page
