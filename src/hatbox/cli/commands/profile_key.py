"""The commands that encrypt a profile, change its key, and decrypt it. A key is never an argument: `ps` shows those."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Final

from hatbox.cli.arguments.parameters import Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json, print_line
from hatbox.maintenance import Key, change_profile_key, configured_key, read_key_file
from hatbox.plurals import number_of
from hatbox.shell_words import shell_word

__all__ = ["decrypt", "encrypt", "generate_key", "rekey"]

_NEW_KEY: Final = "HATBOX_NEW_KEY"
_NEW_KEY_FILE: Final = "HATBOX_NEW_KEY_FILE"

KeyFileOption = Annotated[
    str | None,
    Option(
        "--key-file",
        metavar="FILE",
        help="File with the key of the profile, readable only by you. Default: $HATBOX_KEY, or $HATBOX_KEY_FILE.",
    ),
]


def generate_key(
    output: Annotated[
        str | None,
        Option(
            "--output", "-o", metavar="FILE", help="New file for the key, readable only by you. Default: print the key."
        ),
    ] = None,
    profile: ProfileOption = None,  # noqa: ARG001 - as every command
    as_json: JsonOption = False,
) -> None:
    """Generate a random key for encrypted profiles. Store it safely: without it the logins are lost.

    A file that exists is never overwritten.
    """
    key = Key.generate()
    if output is None:
        if as_json:
            print_json({"key": key.text}, sys.stdout)
        else:
            sys.stdout.write(f"{key.text}\n")
        return
    try:
        descriptor = os.open(output, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{key.text}\n")
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise CommandError(type(error).__name__, f"{output}: {error.strerror or error}. No key was written.") from error
    if as_json:
        print_json({"path": output}, sys.stdout)
    else:
        word = shell_word(str(Path(output).absolute()))
        print_line(f"Wrote a new key to {output}. Use it with: export HATBOX_KEY_FILE={word}", sys.stderr)


def encrypt(key_file: KeyFileOption = None, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Encrypt what holds logins: cookie values, site data, saved pages, extension storage and the change log.

    Names, domains and URLs stay readable. No program may have the profile open. Old values are removed from the
    profile's files, not from backups and not from blocks that the disk has replaced.
    """
    _change(
        profile,
        None,
        _required(_key(key_file)),
        "Encrypted",
        "The profile is encrypted with this key already.",
        as_json,
    )


def rekey(
    key_file: KeyFileOption = None,
    new_key_file: Annotated[
        str | None,
        Option(
            "--new-key-file",
            metavar="FILE",
            help=f"File with the new key, readable only by you. Default: ${_NEW_KEY}, or ${_NEW_KEY_FILE}.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change the key of an encrypted profile. No program may have the profile open."""
    new = configured_key(_NEW_KEY, _NEW_KEY_FILE) if new_key_file is None else read_key_file(Path(new_key_file))
    if new is None:
        raise CommandError(
            "MissingKey",
            f"no new key is set. Set ${_NEW_KEY}, or name a key file with --new-key-file. Generate a key with: "
            "hatbox profile generate-key",
        )
    _change(
        profile, _required(_key(key_file)), new, "Changed the key of", "The profile has the new key already.", as_json
    )


def decrypt(key_file: KeyFileOption = None, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Store everything as plain text again. No program may have the profile open."""
    _change(profile, _required(_key(key_file)), None, "Decrypted", "The profile is not encrypted.", as_json)


def _key(file: str | None) -> Key | None:
    return configured_key() if file is None else read_key_file(Path(file))


def _required(key: Key | None) -> Key:
    if key is None:
        raise CommandError(
            "MissingKey",
            "no key is set. Set $HATBOX_KEY, or name a key file with $HATBOX_KEY_FILE or --key-file. Generate a key "
            "with: hatbox profile generate-key",
        )
    return key


def _change(option: str | None, old: Key | None, new: Key | None, done: str, nothing: str, as_json: bool) -> None:
    opened = open_profile(option)
    count = change_profile_key(opened.address, old, new)
    if as_json:
        print_json({"path": opened.label, "encrypted": new is not None, "values": count or 0}, sys.stdout)
    elif count is None:
        print_line(f"{opened.label}: {nothing}", sys.stderr)
    else:
        print_line(f"{done} {opened.label}: {number_of(count, 'value')}.", sys.stderr)
