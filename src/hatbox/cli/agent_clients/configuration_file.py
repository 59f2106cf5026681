"""A configuration file of another program: read once, and replaced only if its content has not changed since."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from hatbox.cli.terminal.command_errors import CommandError
from hatbox.new_files import replace_file

__all__ = ["ConfigurationFile", "configuration_error"]

_MAX_BYTES: Final = 50_000_000
_NEW_MODE: Final = 0o600
_NOTHING: Final = "Nothing was changed."


def configuration_error(message: str) -> CommandError:
    """The error for a configuration that cannot be read or changed."""
    return CommandError("ConfigurationError", f"{message}. {_NOTHING}")


class ConfigurationFile:
    """A file and its content when it was read. Raises CommandError for what is not safe to replace."""

    def __init__(self, path: Path, *, below: Path | None = None) -> None:
        """`below`: the folder of a project. A folder between it and the file must not be a symbolic link."""
        self.path = path
        for folder in path.parents if below is not None else ():
            if folder == below:
                break
            if folder.is_symlink():
                raise configuration_error(f"{folder} is a symbolic link to {folder.readlink()}")
        self._data, self._mode = self._read()

    @property
    def exists(self) -> bool:
        """Whether the file existed when it was read."""
        return self._data is not None

    @property
    def text(self) -> str:
        """The content when it was read; empty if the file does not exist."""
        try:
            return (self._data or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise configuration_error(f"{self.path} is not UTF-8") from error

    def write(self, text: str) -> None:
        """Replace the content atomically, with the same permissions."""
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise configuration_error(f"{self.path} cannot contain a path that is not UTF-8") from error
        self._check_unchanged()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.path, data, mode=self._mode, check=self._check_unchanged)
        except OSError as error:
            raise configuration_error(f"{self.path} cannot be written: {error.strerror or error}") from error

    def _check_unchanged(self) -> None:
        if self._read() != (self._data, self._mode):
            raise configuration_error(f"another program has changed {self.path} meanwhile. Run the command again")

    def _read(self) -> tuple[bytes | None, int]:
        """The content and the permissions; None for no file."""
        try:
            status = self.path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None, _NEW_MODE
        except OSError as error:
            raise configuration_error(f"{self.path} cannot be read: {error.strerror or error}") from error
        if stat.S_ISLNK(status.st_mode):
            target = self.path.parent / self.path.readlink()
            raise configuration_error(f"{self.path} is a symbolic link. Use the file itself: --file {target}")
        if not stat.S_ISREG(status.st_mode):
            raise configuration_error(f"{self.path} is not a regular file")
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            raise configuration_error(f"{self.path} belongs to another user")
        if not status.st_mode & stat.S_IWUSR:
            raise configuration_error(f"{self.path} is read-only")
        if status.st_size > _MAX_BYTES:
            raise configuration_error(f"{self.path} is larger than {_MAX_BYTES // 1_000_000} MB")
        try:
            return self.path.read_bytes(), stat.S_IMODE(status.st_mode)
        except OSError as error:
            raise configuration_error(f"{self.path} cannot be read: {error.strerror or error}") from error
