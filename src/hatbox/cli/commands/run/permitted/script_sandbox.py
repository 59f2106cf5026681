"""What a script with explicit permissions can reach: its environment, and the files that are hidden or read-only."""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path
from typing import Final

import platformdirs

import hatbox
from hatbox.cli.commands.run.permitted.installed_code import installed_folders, protected_folders
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.errors import SandboxUnavailable
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox import Layers, Wall, available_layers
from hatbox.extensions.runtime.sandbox.hidden_paths import HiddenPaths
from hatbox.extensions.runtime.sandbox.required import is_sandbox_required
from hatbox.manager_api.archives.backup_folder import BackupFolder
from hatbox.profile import Profile

__all__ = ["hidden_files", "script_environment", "script_layers", "script_wall"]

logger = logging.getLogger("hatbox.run")

_SHOWN_VARIABLES: Final = frozenset({"HATBOX_DEBUG", "HATBOX_CHROMIUM"})
_KEY_VARIABLES: Final = ("HATBOX_KEY_FILE", "HATBOX_NEW_KEY_FILE")
_URL_WITH_PASSWORD: Final = re.compile(r"postgres(?:ql)?://\S*(?::[^/\s]*@|password=)", re.IGNORECASE)
_TRUNCATES_FROM: Final = 3


def script_layers(*, require_sandbox: bool) -> Layers:
    """The layers for a script. Raises SandboxUnavailable if they are required and one is missing."""
    layers = available_layers()
    missing = tuple(each for each in layers.missing if not each.startswith("seccomp"))
    if sys.platform == "linux" and 0 < layers.landlock < _TRUNCATES_FROM:
        missing = (*missing, f"Landlock version {_TRUNCATES_FROM}, without which files can be truncated")
    layers = layers._replace(seccomp=False, missing=missing)  # seccomp is for programs that need few system calls
    if missing and is_sandbox_required(RuntimeLimits(require_sandbox=require_sandbox)):
        raise SandboxUnavailable(f"the sandbox is required, and not complete: {layers}")
    if missing:
        logger.warning("the script can read the files of the profile. The sandbox is not complete: %s", layers)
    return layers


def hidden_files(profile: Profile, *working: Path) -> HiddenPaths:
    """The files of the profile, its backups, the folders of Hatbox, and files with keys and passwords.

    Folders of Hatbox that do not exist are hidden too, so that the script cannot create them: Hatbox trusts what is in
    them. The folders of Hatbox's code and of its Python are read-only, unless the script works there: in `working`.
    """
    is_file = profile.store.side_folder is not None
    backups = [BackupFolder(profile.store).path] if is_file else []  # else in one of the folders
    folders = [
        Path(folder("hatbox", appauthor=False))
        for folder in (
            platformdirs.user_data_dir,
            platformdirs.user_config_dir,
            platformdirs.user_state_dir,
            platformdirs.user_cache_dir,
            platformdirs.user_log_dir,
        )
    ]
    if cache := os.environ.get("HATBOX_CACHE"):
        folders.append(Path(cache))
    keys = [Path(path) for name in _KEY_VARIABLES if (path := os.environ.get(name)) and Path(path).exists()]
    paths = [*folders, *backups, *keys, *profile.store.credential_files]
    hidden = HiddenPaths(paths, [profile.address] if is_file else [])
    return hidden.with_read_only(protected_folders(installed_folders(), working, hidden.folders_above))


def script_wall(hidden: HiddenPaths, *needed: str) -> Wall:
    """The sandbox of a script. Raises CommandError if it would hide Python or Hatbox itself."""
    programs = (sys.executable, sys.prefix, sys.base_prefix, str(Path(hatbox.__file__).parent))
    for each in programs:
        if hidden.contains(os.path.realpath(each)):
            raise CommandError(
                "SandboxError",
                f"the script cannot be run: {each} is in a folder that is hidden from scripts with --permission or "
                "--grant. Install Hatbox in another folder.",
            )
    return hidden.wall([*programs, *needed])


def script_environment(profile: Profile) -> dict[str, str]:
    """The environment without the address and keys of the profile, and passwords of its server."""
    is_server = profile.store.side_folder is None

    def is_shown(name: str, value: str) -> bool:
        if name.startswith("HATBOX_") or profile.address in value:
            return name in _SHOWN_VARIABLES
        return not is_server or not (name.startswith("PG") or _URL_WITH_PASSWORD.search(value))

    return {name: value for name, value in os.environ.items() if is_shown(name, value)}
