"""localStorage of an extension page and of its background in Deno: the time until a change arrives at the other side.

    python -m benchmarks.page_storage

The peer is runtime.sendMessage() from the page to the background and back, in the same run. Both sides read the clock
of the machine, in milliseconds. Changes and messages alternate.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.extension_folder import write_extension

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
    "background.js": BACKGROUND,
    "popup.html": "<!doctype html><body><script src=popup.js></script></body>",
    "popup.js": POPUP,
}


LABELS: Final = {"toBackground": "page to background", "toPage": "background to page"}
MESSAGE: Final = "a message and its response"


async def measure(folder: Path, changes: int) -> Measured:
    """All figures, in milliseconds."""
    path = write_extension(folder / "storage", FILES, browser_action={"default_popup": "popup.html"})
    async with hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True):
        extension = await profile.extensions.start(path)
        window = await extension.open_page("popup.html", kind="POPUP")
        times: dict[str, list[float]] = await window.page.evaluate(f"measure({changes})")
    figures: dict[str, float | tuple[float, float]] = {}
    for name, label in LABELS.items():
        values = sorted(times[name])
        figures[f"{label}, median"] = median(values)
        figures[f"{label}, 95 % within"] = values[int(len(values) * 0.95)]
        figures[f"{label}, to a message"] = (median(values), median(times["message"]))
    return figures


BENCHMARK = Benchmark(
    measure,
    [
        figure
        for label in LABELS.values()
        for figure in (
            Figure(f"{label}, median", "ms", at_most=100),
            Figure(f"{label}, 95 % within", "ms", at_most=100),
            Figure(f"{label}, to a message", "ms", MESSAGE, at_most=2),
        )
    ],
    changes=(60, 2),
)

if __name__ == "__main__":
    BENCHMARK.main()
