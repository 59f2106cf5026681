from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from hatbox import Profile, SandboxUnavailable, ScriptError
from hatbox.cli.commands.run.permitted import script_sandbox
from hatbox.cli.commands.run.permitted.script_bridge import _TimedListener
from hatbox.cli.commands.run.permitted.script_sandbox import (
    hidden_files,
    script_environment,
    script_layers,
    script_wall,
)
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.extensions.runtime.sandbox import Layers
from hatbox.extensions.runtime.sandbox.hidden_paths import HiddenPaths

SERVER = "postgresql://me:secret@db.example/hatbox"


def test_the_environment_has_no_address_key_or_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = Profile(tmp_path / "p.db")
    for name in ("HATBOX_PROFILE", "HATBOX_KEY", "HATBOX_PASSPHRASE", "HATBOX_ANYTHING", "HATBOX_DEBUG"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("BACKUP", f"file:{profile.address}")
    monkeypatch.setenv("DATABASE_URL", SERVER)
    monkeypatch.setenv("PGPASSWORD", "secret")
    shown = script_environment(profile)
    assert {"HATBOX_DEBUG", "DATABASE_URL", "PGPASSWORD", "PATH"} <= shown.keys()  # the user's other databases
    assert not {"HATBOX_PROFILE", "HATBOX_KEY", "HATBOX_PASSPHRASE", "HATBOX_ANYTHING", "BACKUP"} & shown.keys()


def test_the_environment_has_no_passwords_of_the_server_of_the_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    names = (".pgpass", ".pg_service.conf", "other", "services", "client.key", "client.crt", "server.key")
    for name in names:
        (tmp_path / name).write_text("secret")
    (tmp_path / ".postgresql").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "other"))
    monkeypatch.setenv("PGSERVICEFILE", "services")
    monkeypatch.setenv("PGSSLKEY", "client.key")
    monkeypatch.setenv("PGSSLCERT", str(tmp_path / "client.crt"))
    monkeypatch.setenv("PGPASSWORD", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgres://db.example/x?user=me&password=secret")
    monkeypatch.setenv("MIRROR", SERVER)
    monkeypatch.setenv("SITE", "https://site.example/")
    profile = Profile(f"{SERVER}?sslkey={tmp_path}/server.key")
    assert "secret" not in "".join(script_environment(profile).values())
    assert "SITE" in script_environment(profile)
    hidden = hidden_files(profile)
    assert [name for name in (*names, ".postgresql/postgresql.key") if not hidden.contains(str(tmp_path / name))] == []


def test_a_name_of_no_file_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    working = tmp_path / "work"
    working.mkdir()
    monkeypatch.chdir(working)
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    monkeypatch.setenv("PGSSLKEY", "pkcs11:token=x")  # of an engine of OpenSSL
    hidden = hidden_files(Profile(SERVER))
    assert not hidden.contains("/dev/null")
    assert str(working) not in hidden.folders_above  # so the script can create files there


@pytest.mark.parametrize(
    ("layers", "missing"),
    [
        (Layers(no_new_privs=True, missing=("Landlock (Function not implemented)",)), "no Landlock"),
        (Layers(no_new_privs=True, landlock=1, seccomp=True), "files can be truncated"),
        (Layers(missing=("sandbox on darwin: only Deno's own permissions",)), "no sandbox on darwin"),
    ],
)
def test_a_missing_layer_is_a_warning_or_if_it_is_required_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, layers: Layers, missing: str
) -> None:
    monkeypatch.setattr(script_sandbox, "available_layers", lambda: layers)
    with caplog.at_level(logging.WARNING, "hatbox.run"):
        assert script_layers(require_sandbox=False).landlock == layers.landlock
    assert "the script can read the files of the profile" in caplog.text
    assert missing in caplog.text
    with pytest.raises(SandboxUnavailable, match="the sandbox is required"):
        script_layers(require_sandbox=True)
    monkeypatch.setenv("HATBOX_SANDBOX", "required")
    with pytest.raises(SandboxUnavailable, match=missing.split()[-1]):
        script_layers(require_sandbox=False)


def test_seccomp_is_not_missed(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    found = Layers(no_new_privs=True, landlock=7, missing=("seccomp (no filter)",))
    monkeypatch.setattr(script_sandbox, "available_layers", lambda: found)
    assert script_layers(require_sandbox=True).complete
    assert not caplog.text


def test_hatbox_itself_is_never_hidden() -> None:
    with pytest.raises(CommandError, match="hidden from scripts"):
        script_wall(HiddenPaths(["/usr", "/home", "/root", "/opt", str(Path(__file__).parents[5])]))


class Silent:
    """A listener that never responds."""

    path = "webRequest.onBeforeRequest"

    def notify(self, *_: Any) -> None:
        pass

    async def call(self, *_: Any, timeout: float | None = None) -> Any:
        async with asyncio.timeout(timeout):
            await asyncio.Event().wait()


def test_a_listener_that_never_responds_delays_nothing_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ScriptError, match="has not responded"):
        asyncio.run(asyncio.wait_for(_TimedListener(Silent(), 0.01).call({}), 30))
    assert "a listener of webRequest.onBeforeRequest has not responded within 0.01 seconds" in caplog.text
