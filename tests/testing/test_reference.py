"""The reference of the fixtures names all of them, and every method of what they return."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hatbox.testing import plugin
from hatbox.testing.extensions import ExtensionUnderTest
from hatbox.testing.site import LoopbackSite

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "testing.md").read_text("utf-8")


def test_every_fixture_has_a_section() -> None:
    source = Path(plugin.__file__).read_text("utf-8")
    fixtures = re.findall(r"^@pytest\.fixture\ndef (\w+)", source, re.MULTILINE)
    assert len(fixtures) >= 6
    for name in fixtures:
        assert f"\n## {name}\n" in PAGE, name


@pytest.mark.parametrize("documented", [ExtensionUnderTest, LoopbackSite])
def test_every_method_is_described(documented: type) -> None:
    for name in vars(documented):
        if not name.startswith("_"):
            assert re.search(rf"`[^`]*\b{name}\b", PAGE), name
