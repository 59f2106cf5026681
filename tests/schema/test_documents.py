from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import msgspec
import pytest

from hatbox.schema import loader
from hatbox.schema.documents import Document, Warnings, normalise_document
from hatbox.schema.types import Path, ValidationError

SCHEMA: dict[str, Any] = {
    "types": [{"id": "Name", "type": "string", "preprocess": "localize", "format": "short"}],
    "document": {
        "type": "object",
        "unknown": "warn",
        "properties": {
            "name": {"$ref": "Name"},
            "names": {"type": "array", "optional": True, "items": {"$ref": "Name", "onError": "warn"}},
            "title": {"$ref": "Name", "optional": True, "onError": "warn", "default": "none"},
            "old": {"type": "boolean", "optional": True, "manifestVersion": 2},
            "size": {
                "optional": True,
                "choices": [{"type": "integer", "manifestVersion": 2}, {"type": "string", "manifestVersion": 3}],
            },
            "settings": {
                "type": "object",
                "optional": True,
                "postprocess": "empty",
                "properties": {"on": {"type": "boolean", "optional": True}},
            },
            "sizes": {"type": "object", "optional": True, "patternProperties": {"^[0-9]+$": {"$ref": "Name"}}},
        },
    },
}


def short(value: str, _: Warnings) -> str:
    if len(value) > 3:
        raise ValidationError("too long", "be short")
    return value


def empty(value: dict[str, Any], warnings: Warnings) -> dict[str, Any] | None:
    if value["on"] is None:
        warnings.append((("on",), "missing"))
        return None
    return value


def describe(error: ValidationError) -> tuple[Path, str]:
    return error.path, error.code or error.problem


def read(value: Any, version: int = 2) -> tuple[Any, Warnings]:
    document = Document("test.json", {"short": short}, {"empty": empty}, describe)
    return normalise_document(document, value, version, str.upper)


@pytest.fixture(autouse=True)
def schema_file(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "document_files").mkdir()
    (tmp_path / "document_files" / "test.json").write_bytes(msgspec.json.encode(SCHEMA))
    monkeypatch.setattr(loader, "_HERE", tmp_path)
    loader.read_document.cache_clear()


def test_text_is_localized_before_it_is_checked() -> None:
    found, warnings = read({"name": "abc"})
    assert (found["name"], warnings) == ("ABC", [])


def test_an_error_has_the_path_of_the_value() -> None:
    with pytest.raises(ValidationError) as raised:
        read({"name": "a", "sizes": {"5": "long"}})
    assert (raised.value.path, raised.value.problem) == (("sizes", "5"), "too long")


def test_what_is_invalid_but_not_important_is_left_out_with_a_warning() -> None:
    found, warnings = read({"name": "a", "names": ["b", "long", 5], "title": "long"})
    assert (found["names"], found["title"]) == (["B"], "none")
    assert warnings == [
        (("names", 1), "too long; it is ignored"),
        (("names", 2), "string; it is ignored"),
        (("title",), "too long; it is ignored"),
    ]


def test_unknown_keys_are_kept_with_a_warning_or_refused() -> None:
    found, warnings = read({"name": "a", "other": 1})
    assert (found["other"], warnings) == (1, [(("other",), "unknown; it is ignored")])
    with pytest.raises(ValidationError, match='Unexpected property "other"'):
        read({"name": "a", "settings": {"other": 1}})


def test_a_version_has_its_own_keys_and_types() -> None:
    assert read({"name": "a", "old": True, "size": 1})[0] | {"names": 0} == read({"name": "a"})[0] | {
        "names": 0,
        "old": True,
        "size": 1,
    }
    found, warnings = read({"name": "a", "old": True, "size": "big"}, version=3)
    assert ("old" in found, found["size"]) == (False, "big")
    assert warnings == [(("old",), "otherVersion; it is ignored")]


def test_a_postprocessor_changes_a_value_and_warns() -> None:
    found, warnings = read({"name": "a", "settings": {}})
    assert (found["settings"], warnings) == (None, [(("settings", "on"), "missing")])


def test_a_key_that_matches_no_pattern_is_refused() -> None:
    with pytest.raises(ValidationError) as raised:
        read({"name": "a", "sizes": {"big": "x"}})
    assert (raised.value.path, raised.value.code) == (("sizes", "big"), "key")


def test_a_required_key_must_exist() -> None:
    with pytest.raises(ValidationError, match='Property "name" is required'):
        read({})
