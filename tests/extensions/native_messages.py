"""An extension and native applications, in a real Firefox: `python -m tests.extensions.native_messages` records it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.firefox import Firefox, save_log

HERE = Path(__file__).parent
RECORDING = HERE / "native_messages.firefox.json"
PROBE = "".join((HERE / name).read_text("utf-8") for name in ("probe.js", "native_messages_probe.js"))
PERMISSIONS = ("nativeMessaging",)
IDS = ("extension-1@hatbox.test", "probe@example.org", "made@example.org")


def install_apps(folder: Path) -> Path:
    """Write the application, and manifests that name it rightly and wrongly, into folders below. Returns theirs."""
    program = folder / "bin" / "app"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\n{(HERE / 'native_app.py').read_text('utf-8')}", "utf-8")
    program.chmod(0o755)
    (folder / "bin" / "text").write_text("no program")
    manifests = folder / ".mozilla" / "native-messaging-hosts"
    manifests.mkdir(parents=True)
    good: dict[str, Any] = {
        "name": "app",
        "description": "",
        "path": str(program),
        "type": "stdio",
        "allowed_extensions": list(IDS),
    }
    wrong: dict[str, dict[str, Any]] = {
        "app": {},
        "other.extension": {"allowed_extensions": ["other@example.org"]},
        "relative": {"path": "bin/app"},
        "no_file": {"path": str(folder / "bin" / "nothing")},
        "not_executable": {"path": str(folder / "bin" / "text")},
        "wrong_type": {"type": "pkcs11"},
        "wrong_name": {"name": "app"},
        "unknown.key": {"frob": 1},
        "no_description": {"description": None},
        "nobody": {"allowed_extensions": []},
        "folder": {"path": str(folder / "bin")},
    }
    for name, changes in wrong.items():
        manifest = {key: value for key, value in {**good, "name": name, **changes}.items() if value is not None}
        (manifests / f"{name}.json").write_text(json.dumps(manifest))
    (manifests / "no_json.json").write_text("{")
    (manifests / "empty.json").write_text("")
    return manifests


def main() -> None:
    with Firefox() as firefox:
        install_apps(firefox._folder)
        log = firefox.run(PROBE, permissions=PERMISSIONS, timeout=120)
        save_log(RECORDING, firefox, log)


def recorded() -> dict[str, list[Any]]:
    """What Firefox answered, by the name of the case."""
    return {name: [how, value] for name, how, value in json.loads(RECORDING.read_text("ascii"))["log"]}


if __name__ == "__main__":
    main()
