"""A program that reads a PDF from standard input, and writes the text of its pages: `pdf_reader.py FIRST_PAGE`.

It runs in a process of its own with little memory and time, because a hostile PDF can need any amount of both. Imports
nothing of Hatbox.
"""

from __future__ import annotations

import io
import sys
from typing import Final

MAX_CHARACTERS: Final = 400_000
CPU_SECONDS: Final = 20
MEMORY: Final = 1 << 30


def main(first: int) -> None:
    """Write the text, each page below a line with its number."""
    from pypdf import PdfReader

    _limit()
    pages = PdfReader(io.BytesIO(sys.stdin.buffer.read())).pages
    left = MAX_CHARACTERS
    for number in range(max(1, first), len(pages) + 1):
        text = f"[Page {number} of {len(pages)}]\n{pages[number - 1].extract_text()}\n"
        sys.stdout.buffer.write(text[:left].encode("utf-8", "replace"))
        sys.stdout.flush()
        left -= len(text)
        if left <= 0:
            break


def _limit() -> None:
    if sys.platform != "win32":
        import resource

        limits = {"CPU": CPU_SECONDS, "AS": MEMORY, "FSIZE": 0, "CORE": 0}
        for name, limit in limits.items():
            kind = getattr(resource, f"RLIMIT_{name}")
            _, hard = resource.getrlimit(kind)
            lowest = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            try:
                resource.setrlimit(kind, (lowest, lowest))
            except (OSError, ValueError):  # macOS has no limit of the address space
                if sys.platform == "linux":
                    raise


if __name__ == "__main__":
    main(int(sys.argv[1]))
