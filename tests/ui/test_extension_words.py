"""Texts of the screen of extensions."""

from __future__ import annotations

import json

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno


@pytest.mark.parametrize(
    ("permissions", "text"),
    [
        ([], "Permissions: none"),
        ([(True, True)], "Permissions: 1 required"),
        ([(False, True), (False, False)], "Permissions: 1 of 2 optional"),
        ([(True, True), (True, True), (False, False)], "Permissions: 2 required, 0 of 1 optional"),
    ],
)
def test_required_permissions_are_not_counted_as_granted_by_the_user(
    permissions: list[tuple[bool, bool]], text: str
) -> None:
    listed = [{"required": required, "granted": granted} for required, granted in permissions]
    assert value_of("granted_text.js", "grantedText", f"return grantedText({json.dumps(listed)});") == text
