"""Maps errors of PostgreSQL to ProfileError: which host and database, what is wrong, what to do next."""

from __future__ import annotations

from typing import Final, NamedTuple

from hatbox.errors import (
    DiskFull,
    NotAProfile,
    ProfileCorrupt,
    ProfileError,
    ProfileLocked,
    ProfileReadOnly,
    ProfileTooNew,
    ProfileUnavailable,
)

__all__ = [
    "CONFLICTS",
    "ConnectionLost",
    "ServerError",
    "connection_failure",
    "no_locks",
    "pooler_refused",
    "to_profile_error",
    "too_new",
    "unavailable",
    "unknown_outcome",
]

CONFLICTS: Final = frozenset({"40001", "40P01", "22012", "23505"})
"""Another process has committed first: serialization failure, deadlock, the check of the head row, and a key that is
taken: a row that was inserted before the head row was checked has an id that the other process has given out too."""

_NOTHING: Final = "Nothing was changed."


class ServerError(Exception):
    """A statement failed. `code` is the SQLSTATE."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ConnectionLost(Exception):
    """The connection broke, or could not be made. `permanent` if trying again is of no use."""

    def __init__(self, reason: str, *, remedy: str = "", permanent: bool = False) -> None:
        super().__init__(reason)
        self.remedy = remedy or "Check that the server runs and can be reached, then try again."
        self.permanent = permanent

    @property
    def is_starting(self) -> bool:
        """Whether the server runs, and accepts connections soon."""
        return any(text in str(self) for text in ("is starting up", "not yet accepting connections"))


class _Failure(NamedTuple):
    """How a connection can fail. libpq reports no SQLSTATE for these, only a text."""

    texts: tuple[str, ...]
    remedy: str
    permanent: bool = True


_FAILURES: Final = (
    _Failure(
        ("password authentication failed", "no password supplied", "authentication failed for user"),
        "Check the user name and the password: of the URL, of PGPASSWORD, or in the password file (~/.pgpass).",
    ),
    _Failure(("no pg_hba.conf entry",), "Allow this user and this machine in pg_hba.conf of the server."),
    _Failure(
        ("too many clients", "too many connections", "remaining connection slots", "connection limit exceeded"),
        "Raise max_connections of the server, or close other programs.",
        permanent=False,
    ),
    _Failure(
        ("session is read-only", "server is in hot standby mode", "session is not read-only"),
        "Name the primary server, or all servers, in the address.",
        permanent=False,
    ),
    _Failure(
        ("method requirement",),
        "The server asks for the password in a form that it could use elsewhere. Store it there with "
        "password_encryption = scram-sha-256, or allow the form in the address: ?require_auth=md5.",
    ),
    _Failure(
        ("channel binding required",),
        "A program between this one and the server, such as a pooler, can be allowed by ?channel_binding=prefer.",
    ),
    _Failure(("server does not support SSL",), "Set up TLS on the server, or allow it without by ?sslmode=disable."),
    _Failure(("certificate verify failed", "root certificate file", "does not match host name"), "Check sslrootcert."),
    _Failure(("could not translate host name", "Name or service not known"), "Check the name of the host.", False),
    _Failure(("permission denied for database",), "Grant this role CONNECT on the database."),
)


def connection_failure(text: str) -> ConnectionLost:
    """Why a connection could not be made, by the message of libpq."""
    reason = " ".join(text.split()).removeprefix("connection failed: ").removeprefix("connection is bad: ")
    for hint in (" Is the server running", " This probably means"):
        reason = reason.partition(hint)[0]
    for failure in _FAILURES:
        if any(each in reason for each in failure.texts):
            return ConnectionLost(reason, remedy=failure.remedy, permanent=failure.permanent)
    if "FATAL" in reason and "does not exist" in reason:
        missing = "Create the role" if " role " in reason else "Create the database with: createdb NAME"
        return ConnectionLost(reason, remedy=f"{missing}, or name another one in the address.", permanent=True)
    return ConnectionLost(reason)


def no_locks(server: str) -> ConnectionLost:
    """The server speaks the protocol of PostgreSQL, and grants one advisory lock to two sessions."""
    return ConnectionLost(
        f"the server is {server}: its advisory locks lock nothing, so two engines would have the same identity",
        remedy="Use a PostgreSQL server.",
        permanent=True,
    )


def pooler_refused() -> ConnectionLost:
    """A pooler shares the sessions of the server between its clients."""
    return ConnectionLost(
        "a pooler in transaction mode is between this program and the server: each transaction gets another session",
        remedy="Connect to the server itself, or use pool_mode = session.",
        permanent=True,
    )


def to_profile_error(label: str, error: ServerError) -> ProfileError:
    """Map an error of the server to a ProfileError."""
    code, text = error.code, str(error)
    if code.startswith("53"):
        return _resources(label, code, text)
    if code in ("42501", "28000", "28P01"):
        remedy = f"{_NOTHING} Grant this role the use of the schema and its tables; see “From one machine to many”."
        return ProfileReadOnly(label, f"a privilege is missing ({text})", remedy)
    if code == "25006":
        remedy = f"{_NOTHING} Connect to the primary server, for example with target_session_attrs=read-write."
        return ProfileReadOnly(label, "the server is read-only", remedy)
    if code == "57014":
        remedy = f"{_NOTHING} Raise statement_timeout for this role, or try again."
        return ProfileLocked(label, f"the server cancelled the statement ({text})", remedy)
    if code in ("55P03", "25P03", "57P05"):
        remedy = f"{_NOTHING} Another process holds a lock for too long: see pg_stat_activity, or try again."
        return ProfileLocked(label, f"the profile is locked ({text})", remedy)
    if code in ("XX001", "XX002", "58030"):
        remedy = f"{_NOTHING} See the log of the server, and restore the database from a backup."
        return ProfileCorrupt(label, f"the database is damaged ({text})", remedy)
    if code in ("42P01", "42703", "3F000"):
        remedy = f"{_NOTHING} Name another schema with ?schema=NAME."
        return NotAProfile(label, f"the schema does not contain the tables of a profile ({text})", remedy)
    remedy = f"{_NOTHING} See the log of the server."
    return ProfileError(label, f"it cannot be used ({text}; SQLSTATE {code})", remedy)


def _resources(label: str, code: str, text: str) -> ProfileError:
    if code == "53100":
        remedy = f"{_NOTHING} Free some space on the server, then try again."
        return DiskFull(label, f"the disk of the server is full ({text})", remedy)
    if code == "53300":
        remedy = f"{_NOTHING} Raise max_connections of the server, or close other programs."
        return ProfileUnavailable(label, f"the server has too many connections ({text})", remedy)
    remedy = f"{_NOTHING} See the log of the server, then try again."
    return ProfileUnavailable(label, f"the server is out of resources ({text})", remedy)


def too_new(label: str, version: int, known: int) -> ProfileTooNew:
    """A newer version of Hatbox has written the profile."""
    return ProfileTooNew(
        label,
        f"a newer version of Hatbox has written it (format {version}; this one knows up to {known})",
        "It was left as it is. Update Hatbox to use it.",
    )


def unavailable(label: str, error: ConnectionLost, *, waited: float = 0, uncertain: bool = False) -> ProfileUnavailable:
    """The server cannot be used. `uncertain`: it is not known whether a commit has succeeded."""
    wait = f" (waited {waited:.0f} s)" if waited >= 1 else ""
    outcome = "The change may or may not have been saved: check before you repeat it." if uncertain else _NOTHING
    reason = str(error).rstrip(".")
    return ProfileUnavailable(label, f"no connection to the server{wait}: {reason}", f"{outcome} {error.remedy}")


def unknown_outcome(label: str, reason: str) -> ProfileUnavailable:
    """The connection was lost during a commit, and the server does not say whether it has succeeded."""
    problem = f"the connection was lost during a commit, and its outcome cannot be read: {reason.rstrip('.')}"
    return ProfileUnavailable(label, problem, "The change may or may not have been saved: check before you repeat it.")
