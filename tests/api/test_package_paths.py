from __future__ import annotations

import pytest

from hatbox.api.package_paths import package_path

PAGE = "moz-extension://uuid/pages/popup.html"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("a.js", "pages/a.js"),
        ("/a.js", "a.js"),
        ("../a.js", "a.js"),
        ("../../a.js", "a.js"),
        ("js/a%20b.js?x#y", "pages/js/a b.js"),
        ("moz-extension://uuid/a.js", "a.js"),
        ("//uuid/a.js", "a.js"),
        ("moz-extension://other/a.js", None),
        ("https://site.example/a.js", None),
        ("https://uuid/a.js", None),
        ("//site.example/a.js", None),
        ("data:text/javascript,1", None),
        ("javascript:1", None),
        ("//[", None),
        ("%2e%2e/%2e%2e/etc/passwd", "etc/passwd"),
    ],
)
def test_a_file_that_a_page_names_is_in_the_extension_or_refused(url: str, path: str | None) -> None:
    assert package_path(url, PAGE) == path


def test_a_caller_without_a_page_has_no_files() -> None:
    assert package_path("a.js", "about:blank") is None
