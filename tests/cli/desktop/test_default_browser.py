"""The default browser gets the URL, and nothing that opens the profile, which its crash reports would have."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hatbox.cli.commands.ui import open_in_browser
from hatbox.store.keys import Key


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system starts the browser")
def test_the_default_browser_has_neither_key_nor_password_of_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, found = tmp_path / "browser", tmp_path / "found"
    script.write_text(f"#!/bin/sh\n(echo $1; env) > {found}\n")
    script.chmod(0o700)
    secrets = {
        "HATBOX_KEY": Key.generate().text,
        "HATBOX_PASSPHRASE": "the passphrase",
        "HATBOX_PROFILE": "postgresql://user:password@db.example/identities",
        "PGPASSWORD": "the password",
    }
    for name, text in {**secrets, "BROWSER": f"{script} %s", "OTHER": "stays"}.items():
        monkeypatch.setenv(name, text)
    assert open_in_browser("http://127.0.0.1/link")
    seen = found.read_text()
    assert seen.startswith("http://127.0.0.1/link\n") and "OTHER=stays" in seen
    assert not [text for text in secrets.values() if text in seen]
