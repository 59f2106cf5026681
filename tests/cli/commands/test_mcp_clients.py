"""hatbox mcp install and uninstall: an entry is added and removed, and nothing else in the file changes or is shown."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hatbox.cli.agent_clients.clients import CLIENTS
from hatbox.new_files import replace_file
from tests.cli.conftest import Cli, Start
from tests.mcp.initialize_message import INITIALIZE

OTHERS = """\
{
    "theme": "dark",
    "mcpServers": {
        "github": {
            "command": "npx",
            "env": {
                "TOKEN": "s3cret"
            }
        }
    }
}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, in which no agent is configured."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA", "HATBOX_KEY", "HATBOX_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HATBOX_CHROMIUM", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: home)
    return home


@pytest.fixture
def cursor(home: Path) -> Path:
    """The configuration of Cursor, with a server of another program."""
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(OTHERS, "utf-8")
    return file


def servers_of(file: Path) -> Any:
    return json.loads(file.read_bytes())["mcpServers"]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_agent_gets_a_server_for_one_identity_and_loses_it_again(cli: Cli, client: str, profile: Path) -> None:
    work = cli("get", "Work", "--json").json["cookieStoreId"]
    made = cli("mcp", "install", client, "--identity", "Work", "--host", "*.site.example", "--yes", "--json")
    assert (made.status, made.err) == (0, "")
    assert (made.json["name"], made.json["changed"]) == ("hatbox-work", True)
    server, file = made.json["server"], Path(made.json["file"])
    words = [server["command"], *server["args"]]
    assert words[-6:-2] == ["--profile", words[-5], "--identity", work]
    assert words[-2:] == ["--host", "*.site.example"]
    assert Path(words[0]).is_absolute()
    assert Path(words[0]).exists()
    assert CLIENTS[client].servers.servers(file.read_text("utf-8")) == {"hatbox-work": server}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = cli("mcp", "install", client, "--identity", work, "--host", "*.site.example", "--json")
    assert (again.status, again.json["changed"], again.json["diff"]) == (0, False, [])
    removed = cli("mcp", "uninstall", client, "--identity", "Work", "--yes", "--json")
    assert (removed.status, removed.json["names"]) == (0, ["hatbox-work"])
    assert CLIENTS[client].servers.servers(file.read_text("utf-8")) == {}
    assert [each.name for each in file.parent.iterdir() if each.name.endswith(".new")] == []


def test_the_change_is_shown_before_the_question_and_nothing_is_written_without_a_yes(cli: Cli, cursor: Path) -> None:
    for answer, kind in (("n\n", "nothing was changed"), ("", "no answer")):
        result = cli("mcp", "install", "cursor", "-i", "Work", stdin=answer)
        assert (result.status, result.out) == (1, "")
        assert kind in result.err
        assert '+        "hatbox-work": {\n' in result.err
        assert f"Add hatbox-work to {cursor}? [y/N]" in result.err
        assert cursor.read_text("utf-8") == OTHERS
    result = cli("mcp", "install", "cursor", "-i", "Work", stdin="y\n")
    assert (result.status, result.out) == (0, f"Added hatbox-work to {cursor}.\n")
    assert "every public site" in result.err
    assert list(servers_of(cursor)) == ["github", "hatbox-work"]


def test_a_dry_run_prints_the_change_and_writes_nothing(cli: Cli, cursor: Path) -> None:
    result = cli("mcp", "install", "cursor", "-i", "Work", "--dry-run")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"--- {cursor}\n+++ {cursor}\n@@ ")
    assert cli("mcp", "install", "cursor", "-i", "Work", "--dry-run", "--json").json["changed"] is False
    assert cursor.read_text("utf-8") == OTHERS
    assert cli("mcp", "install", "zed", "-i", "Work", "--dry-run").status == 0
    assert not CLIENTS["zed"].user_file().parent.exists()


@pytest.mark.parametrize(
    "text",
    [
        OTHERS,
        json.dumps(json.loads(OTHERS)),
        OTHERS.replace('"s3cret"', '"\\"s3cret" // don"t: "s3cret'),
        OTHERS.replace("npx", "s3cret"),
        '{"mcpServers": {}, "token": "s3cret"}',
        '{\n  "token": "s3cret"\n}',
        '{\n  "tokens": [\n    "s3cret"\n  ]\n}',
    ],
)
def test_secrets_of_other_servers_are_not_shown(cli: Cli, cursor: Path, text: str) -> None:
    cursor.write_text(text, "utf-8")
    for arguments in (("--dry-run",), ("--yes", "--json")):
        result = cli("mcp", "install", "cursor", "-i", "Work", *arguments)
        assert result.status == 0
        assert "s3cret" not in result.out + result.err
        assert "--identity" in result.out
    removed = cli("mcp", "uninstall", "cursor", "-i", "Work", "--yes")
    assert removed.status == 0
    assert "s3cret" not in removed.err


def test_secrets_in_toml_are_not_shown(cli: Cli, home: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    text = '# Token \'s3cret\'\na = \'s3cret\'\nb = """\ns3cret\n"""\n[mcp_servers.x.env]\nTOKEN = "s3cret"\n'
    file.write_text(text, "utf-8")
    for verb in ("install", "uninstall"):
        result = cli("mcp", verb, "codex", "-i", "Work", "--yes")
        assert result.status == 0
        assert "hatbox-work" in result.err
        assert "s3cret" not in result.err
    assert file.read_text("utf-8") == text


def test_an_entry_that_cannot_be_cut_out_of_the_text_stays(cli: Cli, home: Path) -> None:
    assert cli("mcp", "install", "codex", "-i", "Work", "--yes").status == 0
    file = home / ".codex" / "config.toml"
    text = file.read_text("utf-8") + "tags = [\n  [\n  'a'],\n]\n"
    file.write_text(text, "utf-8")
    result = cli("mcp", "uninstall", "codex", "-i", "Work", "--yes")
    assert result.status == 1
    assert "cannot be edited" in result.err
    assert file.read_text("utf-8") == text


def test_uninstalling_restores_the_file(cli: Cli, cursor: Path) -> None:
    cursor.chmod(0o640)
    cli("mcp", "install", "cursor", "-i", "Work", "--yes")
    cli("mcp", "install", "cursor", "-i", "Banking", "--read-only", "--name", "bank", "--yes")
    assert list(servers_of(cursor)) == ["github", "hatbox-work", "bank"]
    assert servers_of(cursor)["bank"]["args"][-1] == "--read-only"
    assert cli("mcp", "uninstall", "cursor", "--identity", "Work", "--yes").status == 0
    assert cli("mcp", "uninstall", "cursor", "--name", "bank", stdin="y\n").status == 0
    assert cursor.read_text("utf-8") == OTHERS
    assert stat.S_IMODE(cursor.stat().st_mode) == 0o640


def test_a_server_of_another_program_is_neither_replaced_nor_removed(cli: Cli, cursor: Path) -> None:
    for result in (
        cli("mcp", "install", "cursor", "-i", "Work", "--name", "github", "--yes"),
        cli("mcp", "uninstall", "cursor", "--name", "github", "--yes"),
        cli("mcp", "uninstall", "cursor", "--name", "nothing", "--yes"),
        cli("mcp", "uninstall", "cursor", "--identity", "Work", "--yes"),
    ):
        assert result.status == 1
    assert cursor.read_text("utf-8") == OTHERS


@pytest.mark.skipif(sys.platform != "linux", reason="displays of Linux")
def test_the_server_gets_the_display_of_the_desktop(cli: Cli, cursor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def install() -> Any:
        assert cli("mcp", "install", "cursor", "-i", "Work", "--yes").status == 0
        return servers_of(cursor)["hatbox-work"].get("env")

    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    monkeypatch.setenv("DISPLAY", "localhost:10.0")  # of an SSH connection
    assert install() is None
    monkeypatch.setenv("DISPLAY", ":0")
    shown = cli("mcp", "install", "cursor", "-i", "Work", "--dry-run").out
    assert '+                "DISPLAY": ":0",' in shown
    assert install() == {"DISPLAY": ":0", "XDG_RUNTIME_DIR": "/run/user/1000"}
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-1")
    monkeypatch.setenv("DISPLAY", ":1")
    wayland = {"DISPLAY": ":1", "WAYLAND_DISPLAY": "wayland-1", "XDG_RUNTIME_DIR": "/run/user/1000"}
    assert install() == wayland
    for name in wayland:
        monkeypatch.delenv(name)
    assert install() == wayland  # a terminal without a display does not take it away
    assert cli("mcp", "uninstall", "cursor", "-i", "Work", "--yes").status == 0
    assert cursor.read_text("utf-8") == OTHERS


def test_a_server_with_other_settings_is_not_replaced(cli: Cli, cursor: Path) -> None:
    cli("mcp", "install", "cursor", "-i", "Work", "--read-only", "--yes")
    before = cursor.read_bytes()
    result = cli("mcp", "install", "cursor", "-i", "Work", "--yes")
    assert result.status == 1
    assert "hatbox mcp uninstall cursor --name hatbox-work" in result.err
    assert cursor.read_bytes() == before


def test_a_renamed_identity_keeps_its_server_and_a_removed_one_can_be_uninstalled(cli: Cli, cursor: Path) -> None:
    cli("mcp", "install", "cursor", "-i", "Work", "--yes")
    cli("update", "Work", "--name", "Day job")
    work = cli("get", "Day job", "--json").json["cookieStoreId"]
    assert cli("mcp", "uninstall", "cursor", "--identity", "Day job", "--dry-run", "--json").json["names"] == [
        "hatbox-work"
    ]
    cli("remove", "Day job", "--yes")
    assert cli("mcp", "uninstall", "cursor", "--identity", "Day job", "--yes").status == 1
    assert cli("mcp", "uninstall", "cursor", "--identity", work, "--yes").status == 0
    assert cursor.read_text("utf-8") == OTHERS


def test_a_server_of_another_profile_stays(cli: Cli, cursor: Path, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    cli("mcp", "install", "cursor", "-i", "Work", "--profile", other, "--create", "--yes")
    assert cli("mcp", "uninstall", "cursor", "--identity", "Work", "--yes").status == 1
    assert cli("mcp", "uninstall", "cursor", "--identity", "Work", "--profile", other, "--yes").status == 0


def spoil_with_link(file: Path) -> None:
    file.rename(file.with_name("real.json"))
    file.symlink_to("real.json")


def spoil_with_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def spoil_with_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda file: file.write_text("{,}"), "line 1, column 2"),
        (lambda file: file.write_bytes(b'{"a": "\xff"}'), "not UTF-8"),
        (lambda file: file.write_text("[]"), "no object"),
        (lambda file: file.chmod(0o400), "read-only"),
        (spoil_with_link, "symbolic link"),
        (spoil_with_folder, "not a regular file"),
        (spoil_with_pipe, "not a regular file"),
    ],
)
def test_a_file_that_is_not_safe_to_replace_stays(cli: Cli, cursor: Path, spoil: Any, problem: str) -> None:
    spoil(cursor)
    before = {each.name: each.lstat().st_mtime_ns for each in cursor.parent.iterdir()}
    for arguments in (("install", "cursor", "-i", "Work"), ("uninstall", "cursor", "--name", "github")):
        result = cli("mcp", *arguments, "--yes", "--json")
        assert (result.status, result.out, result.error["type"]) == (1, "", "ConfigurationError")
        assert problem in result.error["message"]
        assert result.error["message"].endswith("Nothing was changed.")
    assert {each.name: each.lstat().st_mtime_ns for each in cursor.parent.iterdir()} == before


def test_a_file_that_another_program_has_changed_meanwhile_stays(
    cli: Cli, cursor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = OTHERS.replace("dark", "light")

    def replace_late(path: Path, *arguments: Any, **options: Any) -> None:
        cursor.write_text(theirs, "utf-8")  # after the file was read and before it is replaced
        replace_file(path, *arguments, **options)

    monkeypatch.setattr("hatbox.cli.agent_clients.configuration_file.replace_file", replace_late)
    result = cli("mcp", "install", "cursor", "-i", "Work", "--yes", "--json")
    assert "has changed" in result.error["message"]
    assert cursor.read_text("utf-8") == theirs
    assert [each.name for each in cursor.parent.iterdir()] == ["mcp.json"]


def test_a_project_of_someone_else_cannot_redirect_the_change(cli: Cli, tmp_path: Path, cursor: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    made = cli("mcp", "install", "claude-code", "-i", "Work", "--project", str(project), "--yes")
    assert made.status == 0
    assert f"--name hatbox-work --project '{project}'" in made.err
    assert list(servers_of(project / ".mcp.json")) == ["hatbox-work"]
    (project / ".cursor").symlink_to(cursor.parent)
    result = cli("mcp", "install", "cursor", "-i", "Work", "--project", str(project), "--yes")
    assert "symbolic link" in result.err
    assert cursor.read_text("utf-8") == OTHERS
    assert cli("mcp", "install", "claude", "-i", "Work", "--project", str(project), "--yes").status == 2


def test_neither_a_key_nor_a_password_is_written(
    cli: Cli, cursor: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("cryptography")
    key = tmp_path / "key"
    cli("profile", "generate-key", "-o", str(key))
    monkeypatch.setenv("HATBOX_KEY", key.read_text("utf-8").strip())
    encrypted = str(tmp_path / "encrypted.db")
    result = cli("mcp", "install", "cursor", "-i", "Work", "--profile", encrypted, "--create", "--yes")
    assert result.status == 0, result.err
    assert "HATBOX_KEY in its environment" in result.err
    assert key.read_text("utf-8").strip() not in cursor.read_text("utf-8")
    monkeypatch.delenv("HATBOX_KEY")
    monkeypatch.setenv("HATBOX_KEY_FILE", os.path.relpath(key))
    made = cli("mcp", "install", "zed", "-i", "Work", "--profile", encrypted, "--yes", "--json")
    assert made.json["server"]["env"] == {"HATBOX_KEY_FILE": str(key)}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("install", "emacs", "-i", "Work"), 2),
        (("install", "cursor"), 2),
        (("install", "cursor", "-i", "Wrok"), 1),
        (("install", "cursor", "-i", "Work", "--name", "a b"), 2),
        (("install", "cursor", "-i", "Work", "--name", ""), 2),
        (("install", "cursor", "-i", "Work", "--host", "https://"), 1),
        (("install", "cursor", "-i", "Work", "--uploads", "/nowhere"), 2),
        (("install", "cursor", "-i", "Work", "--file", "a", "--project", "b"), 2),
        (("install", "cursor", "-i", "Work", "--project", "/nowhere"), 2),
        (("uninstall", "cursor"), 2),
        (("uninstall", "cursor", "-i", "Work", "--name", "x"), 2),
        (("instal", "cursor"), 2),
    ],
)
def test_wrong_usage_changes_nothing(cli: Cli, cursor: Path, arguments: tuple[str, ...], status: int) -> None:
    result = cli("mcp", *arguments, *(() if arguments[0] == "instal" else ("--yes",)))
    assert (result.status, result.out) == (status, "")
    assert cursor.read_text("utf-8") == OTHERS


def test_a_path_that_agents_would_change_is_refused(cli: Cli, cursor: Path, tmp_path: Path) -> None:
    profile = tmp_path / "${HOME}.db"
    result = cli("mcp", "install", "cursor", "-i", "Work", "--profile", str(profile), "--create", "--yes")
    assert result.status == 2
    assert "$" in result.err
    assert cursor.read_text("utf-8") == OTHERS


def test_without_the_extra_nothing_is_written(cli: Cli, cursor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    result = cli("mcp", "install", "cursor", "-i", "Work", "--yes")
    assert (result.status, "pip install 'hatbox[mcp]'" in result.err) == (1, True)
    assert cursor.read_text("utf-8") == OTHERS


def test_names_of_servers_are_accepted_by_all_agents(cli: Cli, cursor: Path) -> None:
    for name, expected in (("Client & Söhne", "hatbox-client-s-hne"), ("日本", "hatbox-container-7"), ("x" * 90, None)):
        cli("create", name)
        made = cli("mcp", "install", "cursor", "-i", name, "--dry-run", "--json").json["name"]
        assert made == (expected or "hatbox-" + "x" * 40)


@pytest.mark.process
def test_the_written_command_starts_the_server_without_path_and_in_any_folder(
    cli: Cli, cursor: Path, tmp_path: Path
) -> None:
    pytest.importorskip("mcp")
    cli("mcp", "install", "cursor", "-i", "Work", "--host", "localhost", "--yes")
    server = servers_of(cursor)["hatbox-work"]
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "asyncio.py").write_text("raise SystemExit('the module of the project was imported')", "utf-8")
    environment = {name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "SYSTEMROOT")}
    process = subprocess.run(
        [server["command"], *server["args"]],
        input=json.dumps(INITIALIZE) + "\n",
        cwd=folder,
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    answer = json.loads(process.stdout.splitlines()[0])
    assert answer["result"]["serverInfo"]["name"] == "hatbox"
    assert '"Work"' in answer["result"]["instructions"]


def test_mcp_itself_still_serves_and_lists_its_commands(cli: Cli, program: Start) -> None:
    assert cli("mcp").status == 2
    assert "hatbox mcp install" in cli("mcp", "--help").out
    process = program("--json", "mcp", "--identity", "Wrok")
    _, err = process.communicate(timeout=60)
    assert (process.returncode, json.loads(err)["error"]["type"]) == (1, "IdentityNotFound")
