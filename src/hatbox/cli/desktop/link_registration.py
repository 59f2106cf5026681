"""Registers `hatbox open-link` on a Linux desktop: a .desktop file, and the user's default applications.

The earlier defaults, and an earlier file of that name, are stored, so that removing the registration restores them: to
the byte if nothing has changed since.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

import msgspec

from hatbox.cli.desktop.container_link import SCHEME
from hatbox.cli.desktop.own_program import own_program

__all__ = ["LinkRegistration", "default_of", "exec_line", "with_default", "without_default"]

_NAME: Final = "hatbox-links.desktop"
_LINKS: Final = f"x-scheme-handler/{SCHEME}"
_WEB: Final = ("x-scheme-handler/http", "x-scheme-handler/https")
_RESERVED: Final = '"`$\\'
_MARK: Final = "X-Hatbox-Links=true"  # a file without this line is the user's own
_DEFAULTS_SECTION: Final = "[Default Applications]"


class _Backup(msgspec.Struct):
    """The default applications before and after the registration, and the earlier file."""

    existed: bool
    before: bytes
    after: bytes
    values: dict[str, bytes | None]
    """The earlier values by type; None if it had none."""
    entry: bytes | None
    """The user's own file in the place of the .desktop file, if it existed."""
    new_folders: list[str]
    """The folders that the registration has made."""


class LinkRegistration:
    """The registration of a user."""

    def __init__(self, data_home: Path, config_home: Path) -> None:
        self.entry = data_home / "applications" / _NAME
        """The .desktop file."""
        self.defaults = config_home / "mimeapps.list"
        """The default applications of the user."""
        self._backup = data_home / "hatbox" / "links.json"

    @classmethod
    def of_user(cls) -> LinkRegistration:
        """In the folders of the XDG Base Directory Specification."""
        data, config = os.environ.get("XDG_DATA_HOME"), os.environ.get("XDG_CONFIG_HOME")
        home = Path.home()
        return cls(Path(data) if data else home / ".local" / "share", Path(config) if config else home / ".config")

    @property
    def is_installed(self) -> bool:
        """Whether the .desktop file exists."""
        return self.entry.exists()

    def install(self, *, browser: bool, profile: str | None) -> list[str]:
        """Register, in place of an earlier registration. Returns the types that Hatbox opens now."""
        self.remove()
        new_folders = [str(each) for each in (self.entry.parent, self._backup.parent) if not each.exists()]
        types = [_LINKS, *(_WEB if browser else ())]
        existed = self.defaults.exists()
        before = _read(self.defaults)
        text = before
        for mime in types:
            text = with_default(text, mime, _NAME)
        values = {mime: default_of(before, mime) for mime in types}
        earlier = {mime: None if value in (None, _NAME) else _bytes(value) for mime, value in values.items()}
        entry = self.entry.read_bytes() if self.entry.exists() else None
        backup = _Backup(existed, _bytes(before), _bytes(text), earlier, entry, new_folders)
        _write(self._backup, msgspec.json.encode(backup).decode(), 0o600)
        _write(self.entry, _entry_text(types, exec_line(profile), browser=browser))
        _write(self.defaults, text)
        return types

    def remove(self) -> bool:
        """Restore the earlier entries. False if nothing was registered."""
        is_ours = _MARK in _read(self.entry).split("\n")
        if not self._backup.exists() and not is_ours:
            return False
        backup = self._read_backup()
        self._restore_defaults(backup)
        if is_ours and backup.entry is not None:
            _write(self.entry, _text(backup.entry))
        elif is_ours:
            self.entry.unlink()
        self._backup.unlink(missing_ok=True)
        for folder in backup.new_folders:
            with contextlib.suppress(OSError):  # it has other files
                Path(folder).rmdir()
        return True

    def _read_backup(self) -> _Backup:
        """The backup. If it is lost, one that removes Hatbox from the default applications."""
        try:
            return msgspec.json.decode(self._backup.read_bytes(), type=_Backup)
        except (OSError, msgspec.DecodeError):
            text = _bytes(_read(self.defaults))
            return _Backup(True, text, b"", dict.fromkeys((_LINKS, *_WEB)), None, [])

    def _restore_defaults(self, backup: _Backup) -> None:
        text = _read(self.defaults)
        if text == _text(backup.after):
            text = _text(backup.before)
        else:
            for mime, value in backup.values.items():
                text = _restored(text, mime, value)
        if not text and not backup.existed:
            self.defaults.unlink(missing_ok=True)
        elif text != _read(self.defaults):
            _write(self.defaults, text)


def _restored(text: str, mime: str, earlier: bytes | None) -> str:
    """The text with the earlier value of a type, unless the user has chosen other programs since."""
    programs = [each.strip() for each in (default_of(text, mime) or "").split(";")]
    if _NAME not in programs:
        return text
    if others := [each for each in programs if each not in ("", _NAME)]:  # a desktop has written a list
        return with_default(text, mime, "".join(f"{each};" for each in others))
    return without_default(text, mime) if earlier is None else with_default(text, mime, _text(earlier))


def exec_line(profile: str | None) -> str:
    """The command of the .desktop file. The link is one argument, after --, so that it is never read as an option."""
    words = [*own_program(), "open-link", *(["--profile", profile] if profile else []), "--"]
    return " ".join([*map(_quoted, words), "%u"])


def _quoted(word: str) -> str:
    escaped = "".join(f"\\{each}" if each in _RESERVED else each for each in word)
    # A string of a .desktop file has escapes of its own, and % starts a field code.
    return f'"{escaped}"'.replace("\\", "\\\\").replace("%", "%%")


def _entry_text(types: list[str], command: str, *, browser: bool) -> str:
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        "Name=Hatbox",
        "Comment=Open links in an identity",
        f"Exec={command}",
        "Terminal=false",
        "StartupNotify=false",
        *(["Categories=Network;WebBrowser;"] if browser else ["NoDisplay=true"]),
        f"MimeType={''.join(f'{each};' for each in types)}",
        _MARK,
    ]
    return "\n".join(lines) + "\n"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _read(path: Path) -> str:
    try:
        return _text(path.read_bytes())
    except FileNotFoundError:
        return ""


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    """Write atomically. A symbolic link stays one, and the file that it names is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    real = path.resolve()
    temporary = real.with_name(f".{real.name}.{os.getpid()}.new")
    try:
        with contextlib.suppress(OSError):
            mode = real.stat().st_mode & 0o777
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_bytes(text))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)


def default_of(text: str, mime: str) -> str | None:
    """The value of a type, as it is written; None if it has none."""
    found = _find(_lines(text), mime)
    return None if found is None else _lines(text)[found].partition("=")[2].strip()


def with_default(text: str, mime: str, value: str) -> str:
    """The text with this value for a type. All other lines stay."""
    lines = _lines(text)
    line = f"{mime}={value}\n"
    if (found := _find(lines, mime)) is not None:
        lines[found] = line
        return "".join(lines)
    section = _section(lines)
    if section is None:
        separator = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{separator}{_DEFAULTS_SECTION}\n{line}"
    if not lines[section].endswith("\n"):
        lines[section] += "\n"
    return "".join([*lines[: section + 1], line, *lines[section + 1 :]])


def without_default(text: str, mime: str) -> str:
    """The text without the value of a type. All other lines stay."""
    lines = _lines(text)
    found = _find(lines, mime)
    return text if found is None else "".join(lines[:found] + lines[found + 1 :])


def _lines(text: str) -> list[str]:
    """The lines with their ends; unlike splitlines(), which knows more ends than a newline."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _section(lines: list[str]) -> int | None:
    return next((number for number, line in enumerate(lines) if line.strip() == _DEFAULTS_SECTION), None)


def _find(lines: list[str], mime: str) -> int | None:
    inside = False
    for number, line in enumerate(lines):
        if line.strip().startswith("["):
            inside = line.strip() == _DEFAULTS_SECTION
        elif inside and line.partition("=")[0].strip() == mime and "=" in line:
            return number
    return None
