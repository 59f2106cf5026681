from __future__ import annotations

import re
from pathlib import Path

from hatbox.schema import load, reference
from hatbox.schema.loader import is_setting

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "extensions.md"


def section(heading: str) -> str:
    return re.split(r"^## ", reference.reference().partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]


def test_the_list_of_namespaces_in_the_docs_is_current() -> None:
    hint = "run: python -m hatbox.schema.reference > docs/reference/extensions.md"
    assert DOCUMENT.read_text("utf-8") == reference.reference(), hint


def test_every_member_is_listed_and_described() -> None:
    text = reference.reference()
    for setting in (each for each in load() if is_setting(each.file)):
        assert f"| `{setting.file.partition('#')[2]}` (" in text
    for namespace in (each for each in load() if not is_setting(each.file)):
        assert (f"\n## {namespace.namespace}" in text) is not namespace.hidden
        for name in () if namespace.hidden else (*namespace.functions, *namespace.events, *namespace.constants):
            assert re.search(rf"^\| `{name}(\(.*\))?` \| \w.* \|$", text, re.MULTILINE), name


def test_it_says_what_a_namespace_needs() -> None:
    assert "Needs: the permission `alarms`.\n" in section("alarms")
    assert "Needs: the key `action` in the manifest.\n" in section("action (manifest version 3)")
    assert "Needs: nothing; `tabs` shows more; Python scripts have it too.\n" in section("tabs")


def test_it_says_what_a_function_needs_beside() -> None:
    assert re.search(r"`hide\(tabIds\)` .* Needs the permission `tabHide`\. \|", section("tabs"))


def test_callbacks_are_left_out() -> None:
    assert "callback" not in section("alarms")
