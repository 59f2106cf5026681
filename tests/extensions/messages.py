"""Two extensions that send each other messages, in a real Firefox: `python -m tests.extensions.messages` records it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.extensions.made import make
from tests.firefox import Firefox, save_log

HERE = Path(__file__).parent
RECORDING = HERE / "messages.firefox.json"
PROBE = "".join((HERE / name).read_text("utf-8") for name in ("probe.js", "messages_probe.js"))
PERMISSIONS = ("management", "tabs")


def make_peer(folder: Path) -> Path:
    """The extension that answers."""
    return make(
        folder,
        (HERE / "messages_peer.js").read_text("utf-8"),
        name="peer",
        short_name="P",
        description="the other one",
        homepage_url="https://peer.example/",
        icons={"16": "a.svg", "32": "b.svg"},
        options_ui={"page": "options.html"},
        permissions=["storage", "https://*.peer.example/a/*"],
        files={"options.html": ""},
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Firefox() as firefox:
        peer = make_peer(Path(folder))
        firefox._marionette.send("Addon:Install", path=str(peer), temporary=True)
        log = firefox.run(PROBE, permissions=PERMISSIONS)
        save_log(RECORDING, firefox, log)


def recorded() -> dict[str, list[Any]]:
    """What Firefox answered, by the name of the case."""
    return {name: [how, value] for name, how, value in json.loads(RECORDING.read_text("ascii"))["log"]}


if __name__ == "__main__":
    main()
