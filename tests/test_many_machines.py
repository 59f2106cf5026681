"""The page "From one machine to many" works as printed: with a server that has roles, passwords and TLS."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.marks import starts
from tests.postgres import Cluster, find_programs

PAGE = Path(__file__).parents[1] / "docs" / "many-machines.md"
STEP = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```$|^    (?P<command>\S[^\n]*)$',
    re.MULTILINE | re.DOTALL,
)
PASSWORDS = {"hatbox_owner": "PASSWORD-OF-HATBOX-OWNER", "hatbox": "PASSWORD-OF-HATBOX"}


class Server(Cluster):
    """A server as Debian's package sets it up: the superuser postgres, and TLS with a self-signed certificate."""

    def create(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        if os.getuid() == 0:
            self.folder.chmod(0o755)
            shutil.chown(self.folder, "nobody")
        self.run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        (self.data / "pg_hba.conf").write_text("local all postgres trust\n")
        self._make_certificate()
        self.configure({**self.settings, "listen_addresses": "127.0.0.1", "ssl": "on"})

    def _make_certificate(self) -> None:
        names = ("db.example", "db1.example", "db2.example")
        subject = ["-subj", "/CN=db.example", "-addext", "subjectAltName=" + ",".join(f"DNS:{each}" for each in names)]
        files = ["-keyout", str(self.data / "server.key"), "-out", str(self.data / "server.crt")]
        command = ["openssl", "req", "-new", "-x509", "-nodes", "-days", "30", "-newkey", "rsa:2048", *subject, *files]
        subprocess.run(command, check=True, capture_output=True)
        (self.data / "server.key").chmod(0o600)
        if os.getuid() == 0:
            for each in self.data.glob("server.*"):
                shutil.chown(each, "nobody")


@pytest.fixture(scope="module")
@starts("server")
def server() -> Iterator[Server]:
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: no initdb was found")
    with tempfile.TemporaryDirectory(prefix="hatbox-pg-", ignore_cleanup_errors=True) as folder:
        server = Server(programs, Path(folder), {"fsync": "off"})
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")


class Reader:
    """Follows the page. db.example is the server of this test."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.printed = ""
        self.home = folder / "home"
        self.folder = folder / "work"
        for each in (self.home, self.folder, folder / "bin"):
            each.mkdir()
        program = folder / "bin" / "hatbox"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hatbox "$@"\n')
        program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HATBOX_", "XDG_", "PG"))}
        self.environment = {
            **kept,
            "HOME": str(self.home),
            "PATH": f"{folder / 'bin'}{os.pathsep}{server.programs}{os.pathsep}{os.environ['PATH']}",
        }
        self.remote = {"PGHOSTADDR": "127.0.0.1", "PGPORT": str(server.port)}
        self.local = {"PGHOST": str(server.folder), "PGPORT": str(server.port), "PGUSER": "postgres"}

    def follow_all(self) -> str:
        """Follow all steps in order; returns what the commands printed."""
        printed = ""
        for match in STEP.finditer(PAGE.read_text("utf-8")):
            if match["command"]:
                printed += self._run(match["command"])
            elif match["file"]:
                self._write(match["file"], match["text"])
            else:
                (self.folder / "program.py").write_text(match["text"])
                output = self.output(f"{sys.executable} program.py", self.remote)
                assert output.splitlines() == re.findall(r"print\(.*\)  # (.*)$", match["text"], re.MULTILINE)
        return printed

    def _write(self, name: str, text: str) -> None:
        if name == "pg_hba.conf":
            with (self.server.data / name).open("a") as file:
                file.write(text.replace("10.0.0.0/8", "127.0.0.1/32"))
        elif name == ".pgpass":
            (self.home / name).write_text(re.sub(r":5432:", f":{self.server.port}:", text))
        else:
            (self.folder / name).write_text(text)

    def _run(self, command: str) -> str:
        if command.startswith(("sudo apt", "pip ")):
            return ""  # installed where these tests run
        if command.startswith("sudo systemctl restart"):
            (self.server.data / "postgresql.auto.conf").write_text("")  # the tests listen on loopback only
            self.server.stop()
            self.server.start()
            certificate = self.home / ".postgresql" / "root.crt"
            certificate.parent.mkdir()
            certificate.write_text((self.server.data / "server.crt").read_text())
            return ""
        if command.startswith("sudo -u postgres "):
            role = command.split()[-1]
            return self.output(command.removeprefix("sudo -u postgres "), self.local, f"{PASSWORDS.get(role)}\n" * 2)
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self.environment[name] = value
            return ""
        environment = dict(self.remote)
        if "db1.example,db2.example" in command:  # the first of two servers does not run
            command = command.replace("db1.example,db2.example", f"db1.example:1,db2.example:{self.server.port}")
            environment = {"PGHOSTADDR": "127.0.0.1,127.0.0.1"}
            passwords = (self.home / ".pgpass").read_text()
            (self.home / ".pgpass").write_text(passwords + passwords.replace("db.example", "db2.example"))
        return self.output(command, environment)

    def output(self, command: str, environment: dict[str, str], answer: str = "") -> str:
        done = self.run(command, environment, answer)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def run(self, command: str, environment: dict[str, str], answer: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment | environment,
            input=answer,
            text=True,
            capture_output=True,
            timeout=120,
            start_new_session=True,  # without a terminal, passwords are read from standard input
            check=False,
        )


@pytest.fixture(scope="module")
def reader(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A user with a profile who has followed the page."""
    reader = Reader(server, tmp_path_factory.mktemp("reader"))
    reader.output("hatbox create Mine --color red", {})
    reader.printed = reader.follow_all()
    return reader


def test_the_page_works_as_it_is_printed(reader: Reader) -> None:
    printed = reader.printed
    assert "Created the schema hatbox in postgresql://db.example" in printed
    assert "Created the schema team in postgresql://db.example" in printed
    assert "5 identities" in printed
    assert printed.count("Mine") > 2
    assert (reader.folder / "backup.db").exists()
    everything = printed
    for command in (
        "hatbox cookies set Work https://site.example/ a b",
        "hatbox cookies list Work",
        "hatbox update Work --name Office",
        "hatbox move Office --to first",
        "hatbox hide Office",
        "hatbox show Office",
        "hatbox open --engine http Fleet http://localhost:1/",
        "hatbox tabs",
        "hatbox close --identity Fleet",
        "hatbox remove Fleet --yes",
        "hatbox export --all --format json-lines",
    ):
        done = reader.run(command, reader.remote)
        everything += done.stdout + done.stderr
        assert done.returncode == 0 or command.startswith("hatbox open"), f"{command}: {done.stderr}"
        assert "privilege" not in done.stderr
    assert "Office" in everything
    assert "PASSWORD" not in everything


MESSAGES = re.findall(r"^\| `(.*?)` \|", PAGE.read_text("utf-8"), re.MULTILINE)


def test_the_messages_are_those_that_users_see(reader: Reader, server: Server) -> None:
    user, owner = "postgresql://hatbox@db.example/identities", "postgresql://hatbox_owner@db.example/identities"
    super_user = f"psql -h {server.folder} -p {server.port} -U postgres"
    reader.output(f"{super_user} -d identities -c 'CREATE SCHEMA other' -c 'CREATE TABLE other.a ()'", {})
    reader.output(f"{super_user} -c 'CREATE ROLE visitor LOGIN' -c 'CREATE ROLE reader LOGIN'", {})
    reader.output(f"{super_user} -c 'GRANT CONNECT ON DATABASE identities TO reader, hatbox'", {})
    (reader.folder / "wrong.crt").write_text((server.data / "server.crt").read_text())
    other = ["openssl", "req", "-new", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=db.example"]
    subprocess.run(
        [*other, "-keyout", os.devnull, "-out", str(reader.folder / "wrong.crt")], check=True, capture_output=True
    )
    with (server.data / "pg_hba.conf").open("a") as file:
        file.write("hostssl identities reader 127.0.0.1/32 trust\n")
    server.run("pg_ctl", "reload", "-D", str(server.data))
    empty = {"PGPASSFILE": os.devnull}
    situations: dict[str, tuple[str, dict[str, str]]] = {
        "Connection refused": (f"hatbox profile info '{user}?reconnect_seconds=0'", {"PGPORT": "1"}),
        "no pg_hba.conf entry": ("hatbox profile info postgresql://visitor@db.example/identities", {}),
        "password authentication failed": (f"hatbox list --profile {user}", {"PGPASSWORD": "s3cret"}),
        "no password supplied": (f"hatbox list --profile {user}", empty),
        "certificate verify failed": (
            f"hatbox list --profile '{user}?sslmode=verify-full&sslrootcert={reader.folder / 'wrong.crt'}'",
            {},
        ),
        "no profile exists there": (f"hatbox profile info '{user}?schema=nosuch'", {}),
        "this role may not create one": (f"hatbox profile create '{user}?schema=nosuch'", {}),
        "permission denied": ("hatbox list --profile postgresql://reader@db.example/identities", {}),
        "has other tables": (f"hatbox profile info '{owner}?schema=other'", {}),
        "it was changed since it was created": (f"hatbox profile copy backup.db {user}", {}),
    }
    for message, (command, environment) in situations.items():
        done = reader.run(command, reader.remote | environment)
        assert done.returncode == 1, (message, done)
        assert message in done.stderr, (message, done.stderr)
        assert message in MESSAGES
        assert "s3cret" not in done.stderr
    reader.server.configure({"ssl": "off"})
    server.run("pg_ctl", "reload", "-D", str(server.data))
    # Required by default for hosts that are not local, as that of this test is.
    done = reader.run(f"hatbox list --profile {user}", reader.remote | {"PGSSLMODE": "require"})
    assert "server does not support SSL" in done.stderr
