from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies.paths import default_path, path_matches

from . import model
from .strategies import timeless


@pytest.mark.parametrize(
    ("request_path", "directory"),
    [("", "/"), ("x", "/"), ("/", "/"), ("/x", "/"), ("/x/", "/x"), ("/x/y", "/x"), ("//", "/"), ("/x//", "/x/")],
)
def test_the_default_is_the_directory(request_path: str, directory: str) -> None:
    assert default_path(request_path) == directory


_paths = st.text("/xy").map("/".__add__)


@timeless
@given(_paths, _paths)
def test_paths_match_as_the_text_says(request_path: str, cookie_path: str) -> None:
    assert path_matches(request_path, cookie_path) == model.path_match(request_path, cookie_path)
    assert default_path(request_path) == model.default_path_of(request_path)
    assert path_matches(request_path, default_path(request_path))
