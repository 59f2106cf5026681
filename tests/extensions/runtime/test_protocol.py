"""The wire protocol has the same names in Python and JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

from hatbox.extensions import runtime
from hatbox.extensions.runtime import protocol

SCRIPTS = Path(runtime.__file__).parent / "js"


def python_names() -> dict[str, str]:
    return {name: value for name, value in vars(protocol).items() if name.isupper() and isinstance(value, str)}


def test_both_sides_have_the_same_messages() -> None:
    source = (SCRIPTS / "protocol.js").read_text("utf-8")
    assert dict(re.findall(r'^export const (\w+) = "(\w+)";$', source, re.MULTILINE)) == python_names()


def test_every_message_has_a_name_of_its_own_and_is_used_on_both_sides() -> None:
    names = python_names()
    assert len(set(names.values())) == len(names) > 20
    python = "".join(path.read_text("utf-8") for path in SCRIPTS.parent.glob("*.py") if path.name != "protocol.py")
    script = "".join(path.read_text("utf-8") for path in SCRIPTS.glob("*.*js") if path.name != "protocol.js")
    script = re.sub(r"^import \{[^}]*\} from .*$", "", script, flags=re.MULTILINE)
    for name in names:
        assert f"protocol.{name}" in python, name
        assert re.search(rf"\b{name}\b", script), name


def test_every_message_is_described() -> None:
    source = Path(protocol.__file__).read_text("utf-8")
    for name in python_names():
        assert re.search(rf'^{name}: Final = "\w+"\n"""(?:\[|To the host, \[)', source, re.MULTILINE), name


# These encode values of IndexedDB as arrays with a tag.
NOT_MESSAGES = {"idb_clone.js", "idb_keys.js"}


def test_no_message_is_written_without_its_name() -> None:
    for path in [*SCRIPTS.glob("*.*js"), *SCRIPTS.glob("members/*.js")]:
        if path.name in NOT_MESSAGES:
            continue
        assert re.findall(r'[`\'"]\["\w+"', path.read_text("utf-8")) == [], path.name
