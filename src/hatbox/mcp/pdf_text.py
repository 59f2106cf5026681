"""The text of a PDF for an agent, read by a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from hatbox import child_processes
from hatbox.mcp.tool_output import ToolFailed

__all__ = ["first_page", "is_pdf", "pdf_text"]

_READER: Final = Path(__file__).with_name("pdf_reader.py")
_SECONDS: Final = 20.0
_SLOTS: Final = asyncio.Semaphore(2)  # each reader may take a gigabyte
_PAGE: Final = re.compile(r"#(?:[^#]*&)?page=([0-9]{1,6})(?:&|$)")


def is_pdf(content_type: str) -> bool:
    """Whether a response is a PDF, by its Content-Type."""
    return content_type.partition(";")[0].strip().lower() == "application/pdf"


def first_page(url: str) -> int:
    """The page that a URL names, as in `#page=2`; 1 if it names none."""
    found = _PAGE.search(url)
    return int(found[1]) if found else 1


async def pdf_text(content: bytes, page: int) -> str:
    """The text from a page on; a note if there is none. Raises ToolFailed."""
    if find_spec("pypdf") is None:
        raise ToolFailed("the text of PDFs needs the package pypdf. Ask the user to run: pip install 'hatbox[mcp]'")
    try:
        async with asyncio.timeout(_SECONDS):
            await _SLOTS.acquire()
    except TimeoutError:
        raise ToolFailed("other PDFs are being read. Try again in some seconds.") from None
    try:
        return await _read(content, page)
    finally:
        _SLOTS.release()


async def _read(content: bytes, page: int) -> str:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", str(_READER), str(page)),
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
        env=child_processes.foreign_environment(),
    )
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate(content)
    except TimeoutError:
        raise ToolFailed(f"the text of the PDF was not read within {_SECONDS:g} seconds.") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    text = output.decode("utf-8", "replace")
    if process.returncode:
        return f"{text}\n[The PDF cannot be read{' further' if text else ''}: it is damaged, encrypted or too large.]"
    return text or f"[The PDF has no page {page}.]"
