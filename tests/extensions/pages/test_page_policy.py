"""The content security policy of extension pages."""

from __future__ import annotations

from hatbox.extensions.pages.page_policy import page_policies, script_hashes

BASE_2 = (
    "script-src 'self' moz-extension: https: http://localhost:* http://127.0.0.1:* blob: "
    "'unsafe-eval' 'wasm-unsafe-eval'"
)


def test_the_defaults_are_those_of_firefox_and_allow_its_urls() -> None:
    assert page_policies(2, None) == ["script-src 'self' moz-extension: 'wasm-unsafe-eval'", BASE_2]
    assert page_policies(3, None) == [
        "script-src 'self' moz-extension:; upgrade-insecure-requests",
        "script-src 'self' moz-extension: 'wasm-unsafe-eval'",
    ]


def test_the_policy_of_a_manifest_is_sent_in_one_line_without_hashes() -> None:
    policy = "script-src 'self' 'sha256-abc=';\nobject-src 'SELF'; img-src https:"
    assert script_hashes(policy) == {"sha256-abc="}
    assert page_policies(2, policy) == [
        "script-src 'self' moz-extension:; object-src 'self' moz-extension:; img-src https:",
        BASE_2,
    ]


def test_the_hash_of_the_import_map_is_in_every_policy_for_scripts() -> None:
    for policy in page_policies(3, "default-src 'none'; script-src 'self'; script-src-elem 'self'", "sha256-map="):
        directives = [each.split() for each in policy.split(";")]
        assert all("'sha256-map='" in each for each in directives if each[0] in ("script-src", "script-src-elem"))
