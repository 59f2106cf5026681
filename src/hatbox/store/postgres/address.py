"""The address of a profile in PostgreSQL: a URL as libpq reads it, with a few parameters of our own."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import conninfo
from psycopg.pq import Conninfo, PGconn

from hatbox.errors import ProfileError

__all__ = ["PostgresAddress", "is_local"]

_DEFAULT_SCHEMA: Final = "hatbox"
_OWN_PARAMETERS: Final = ("schema", "reconnect_seconds")
_DEFAULT_RECONNECT_SECONDS: Final = 30.0
_MIN_CONNECT_SECONDS: Final = 2.0  # of libpq
_MAX_CONNECT_SECONDS: Final = 10.0
_REQUIRE_AUTH_VERSION: Final = 160000  # of libpq. psycopg[binary] has a later one
_MAX_NAME_BYTES: Final = 63  # of PostgreSQL: longer names are cut off
_SECRET: Final = frozenset({"password", "sslpassword", "sslkey", "oauth_client_secret"})
_DEFAULTS: Final = {
    "application_name": "hatbox",
    # A connection to a machine that has vanished is detected after at most half a minute.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
}


class PostgresAddress(NamedTuple):
    """The parts of an address. Only `conninfo` and `url` may have a password, so that repr() shows neither."""

    url: str
    conninfo: str
    """The connection parameters for libpq."""
    label: str
    """Host, database and schema, for messages and logs."""
    schema: str
    reconnect_seconds: float
    """How long calls wait for a lost connection."""
    is_local: bool
    """Whether the server is on this machine."""

    @classmethod
    def parse(cls, url: str) -> PostgresAddress:
        """Parse an address. Raises ProfileError, whose message has no part of the URL that may be a password."""
        try:
            parts = urlsplit(url)
            _refuse_stray_password(url, parts.netloc)
            own, query = _own_parameters(parts.query)
            schema = own.get("schema", _DEFAULT_SCHEMA)
            reconnect = own.get("reconnect_seconds", "")
            plain = url.partition("?")[0] + (f"?{query}" if query else "")  # urlunsplit() needs a host
            parameters = conninfo.conninfo_to_dict(plain)
            if not all(port.isdigit() or not port for port in str(parameters.get("port") or "").split(",")):
                raise ValueError  # also what follows a colon in a password with a slash
        except (ValueError, psycopg.Error) as error:
            problem = "this is not a valid PostgreSQL URL" + _reason(error)
            remedy = (
                "Use postgresql://USER:PASSWORD@HOST/DATABASE, with %2F for / in the password, %40 for @, and so on."
            )
            raise ProfileError("postgresql://…", problem, remedy) from None
        label = _label(parameters, schema)
        if not schema or len(schema.encode()) > _MAX_NAME_BYTES or "\0" in schema or schema.startswith("pg_"):
            raise ProfileError(label, f"invalid schema name: {schema!r}", "Use a name of 1 to 63 bytes, without pg_.")
        seconds = _seconds(reconnect, label)
        timeout = str(round(min(max(seconds, _MIN_CONNECT_SECONDS), _MAX_CONNECT_SECONDS)))
        effective = {**_environment(), **parameters}
        defaults = {**_DEFAULTS, "connect_timeout": timeout, **_security(effective)}
        completed = conninfo.make_conninfo("", **{**defaults, **parameters})
        hosts = _hosts(effective)
        local = len(hosts) == 1 and is_local(hosts[0])
        return cls(url, completed, label, schema, seconds, local)

    def __repr__(self) -> str:
        return f"<PostgresAddress {self.label}>"

    def with_service(self) -> str:
        """The connection parameters, with those that a server needs which a service file names.

        Only libpq finds and reads such a file, when a connection starts. That one is closed before anything is sent.
        """
        parameters = conninfo.conninfo_to_dict(self.conninfo)
        if not (parameters.get("service") or os.environ.get("PGSERVICE")):
            return self.conninfo
        started = PGconn.connect_start(self.conninfo.encode())
        chosen = [each for each in started.info if each.val and each.val != each.compiled]
        effective = {each.keyword.decode(): (each.val or b"").decode() for each in chosen if each.keyword != b"service"}
        started.finish()
        return conninfo.make_conninfo("", **{**_security(effective), **parameters})


def _own_parameters(query: str) -> tuple[dict[str, str], str]:
    """The parameters that libpq does not know, and the rest of the query, unchanged: libpq reads + as a plus."""
    own: dict[str, str] = {}
    others = []
    for each in filter(None, query.split("&")):
        name, equals, value = each.partition("=")
        if not equals:
            raise ValueError
        if name in _OWN_PARAMETERS:
            own[name] = unquote(value, errors="strict")
        else:
            others.append(each)
    return own, "&".join(others)


def is_local(host: str) -> bool:
    """Whether a host is this machine: a Unix socket, or the loopback interface."""
    if not host or host[0] in "/@" or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name: also one such as 127.example


def _label(parameters: Mapping[str, Any], schema: str) -> str:
    effective = {**_environment(), **parameters}
    where = effective.get("host") or effective.get("hostaddr") or ""
    if not where and effective.get("service"):
        where = f"service {effective['service']}"
    port = effective.get("port") or ""
    is_usual = set(port.split(",")) <= {"", "5432"}  # one for each of several hosts
    host = where if is_usual or where.startswith("/") else f"{where}:{port}"
    database = effective.get("dbname") or effective.get("user") or ""
    suffix = "" if schema == _DEFAULT_SCHEMA else f"?schema={schema}"
    return f"postgresql://{host or 'local socket'}/{database}{suffix}"


def _security(effective: Mapping[str, Any]) -> dict[str, str]:
    """Parameters with which the password is not sent in clear text or as MD5, and a server on another machine needs TLS
    and must know the password too.

    Unless the user says otherwise. A certificate that was verified says the same as channel binding, which needs TLS.
    """
    found: dict[str, str] = {}
    hosts = _hosts(effective)
    if hosts and not effective.get("sslmode") and not all(map(is_local, hosts)):
        found["sslmode"] = "require"
    if not effective.get("require_auth") and psycopg.pq.version() >= _REQUIRE_AUTH_VERSION:
        found["require_auth"] = "!password,!md5"
    is_verified = {**found, **effective}.get("sslmode") not in ("require", "verify-ca")
    file = effective.get("passfile") or Path.home() / ".pgpass"
    has_password = bool(effective.get("password") or os.environ.get("PGPASSWORD") or Path(file).exists())
    if has_password and not is_verified and not effective.get("channel_binding"):
        found["channel_binding"] = "require"
    return found


def _hosts(effective: Mapping[str, Any]) -> list[str]:
    """The hosts of an address; none if a service file names them."""
    if effective.get("service"):
        return []
    return str(effective.get("hostaddr") or effective.get("host") or "").split(",")


def _environment() -> dict[str, str]:
    """What libpq reads from environment variables."""
    found = {}
    for option in Conninfo.get_defaults():
        name = option.envvar.decode() if option.envvar else ""
        if name and os.environ.get(name):
            found[option.keyword.decode()] = os.environ[name]
    return {name: value for name, value in found.items() if name not in _SECRET}


def _refuse_stray_password(url: str, netloc: str) -> None:
    """A password with a special character ends the host too early: the rest would be shown as host or database."""
    rest = url.partition("://")[2].removeprefix(netloc)
    is_cut = "@" not in netloc and ":" in netloc and "@" in rest
    if is_cut or "@" in rest.partition("?")[0] or netloc.count("@") > 1 or "#" in rest:
        raise ValueError


def _seconds(text: str, label: str) -> float:
    if not text:
        return _DEFAULT_RECONNECT_SECONDS
    try:
        seconds = float(text)
        if not 0 <= seconds < 1e6:
            raise ValueError
    except ValueError:
        problem = "reconnect_seconds is not a number of seconds"
        raise ProfileError(label, problem, "Use ?reconnect_seconds=30.") from None
    return seconds


def _reason(error: Exception) -> str:
    """The part of a message of libpq that names a parameter; other messages quote the URL."""
    text = str(error)
    return f" ({text.strip()})" if text.startswith("invalid URI query parameter") else ""
