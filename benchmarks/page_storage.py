"""localStorage of an extension page and of its background in Deno: the time until a change arrives at the other side.

    python -m benchmarks.page_storage

The peer is runtime.sendMessage() from the page to the background and back, in the same run. Both sides read the clock
of the machine, in milliseconds. Changes and messages alternate.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from rich.console import Console

import hatbox
from benchmarks.bars import Bar, bars_table

CHANGES: Final = 60
MANIFEST: Final = {
    "manifest_version": 2,
    "name": "storage",
    "version": "1",
    "background": {"scripts": ["background.js"]},
    "browser_action": {"default_popup": "popup.html"},
}
# Arrival times by value, and a promise for one that has not arrived.
_ARRIVALS: Final = """
  const arrived = new Map(), waiting = new Map();
  addEventListener("storage", ({key, newValue}) => {
    if (key !== "from " + OTHER) return;
    arrived.set(newValue, Date.now());
    waiting.get(newValue)?.(Date.now());
  });
  const arrival = value => arrived.get(value) ?? new Promise(resolve => { waiting.set(value, resolve); });
"""
BACKGROUND: Final = f"""const OTHER = "page"; {_ARRIVALS}
  browser.runtime.onMessage.addListener(async ({{what, value}}) => {{
    if (what === "arrival") return await arrival(value);
    if (what === "set") {{
      const started = Date.now();
      localStorage.setItem("from background", value);
      return started;
    }}
    return value;
  }});"""
POPUP: Final = f"""const OTHER = "background"; {_ARRIVALS}
  async function measure(count) {{
    const times = {{toBackground: [], toPage: [], message: []}};
    for (let i = 0; i < count; i++) {{
      const value = String(i);
      let started = Date.now();
      localStorage.setItem("from page", value);
      times.toBackground.push(await browser.runtime.sendMessage({{what: "arrival", value}}) - started);
      started = await browser.runtime.sendMessage({{what: "set", value}});
      times.toPage.push(await arrival(value) - started);
      started = performance.now();
      await browser.runtime.sendMessage({{what: "echo", value}});
      times.message.push(performance.now() - started);
    }}
    return times;
  }}"""
FILES: Final = {
    "manifest.json": json.dumps(MANIFEST),
    "background.js": BACKGROUND,
    "popup.html": "<!doctype html><body><script src=popup.js></script></body>",
    "popup.js": POPUP,
}


async def measure(changes: int) -> list[Bar]:
    """Measure, and print the milliseconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "storage"
        folder.mkdir()
        for path, text in FILES.items():
            (folder / path).write_text(text, "utf-8")
        async with hatbox.open(Path(name) / "profile.db") as profile, profile.chromium(headless=True):
            extension = await profile.extensions.start(folder)
            window = await extension.open_page("popup.html", kind="POPUP")
            times: dict[str, list[float]] = await window.page.evaluate(f"measure({changes})")
    bars: list[Bar] = []
    message = median(times["message"])
    print(f"a message and its response: {message:.1f} ms")
    for name, label in (("toBackground", "page to background"), ("toPage", "background to page")):
        values = sorted(times[name])
        middle, late = median(values), values[int(len(values) * 0.95)]
        print(f"localStorage, {label}: median {middle:.1f} ms, 95 % within {late:.1f} ms")
        bars.append((f"{label}, median / 100 ms", middle / 100, "<=", 1))
        bars.append((f"{label}, 95 % / 100 ms", late / 100, "<=", 1))
        bars.append((f"{label}, median / a message and its response", middle / message, "<=", 2))
    return bars


def main() -> int:
    """Print the bars. The exit status is the number of missed ones."""
    bars = asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else CHANGES))
    Console().print(bars_table(bars))
    return sum(ratio > bar for _, ratio, _, bar in bars)


if __name__ == "__main__":
    sys.exit(main())
