from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hatbox.errors import ExtensionError, ManifestError
from hatbox.extension_data.extension_permissions import NONE, Permissions
from hatbox.extensions.package.manifest import Manifest, read_manifest
from hatbox.extensions.package.package_files import Package, open_package
from tests.extensions.manifests import BASE, BASE3, CASES, Case
from tests.extensions.record import recorded, write

# Where the recording is not all there is: Firefox finds these later, when it installs the extension.
FOUND_LATER = {"strict_min_version with a star"}
# Where Hatbox goes on and Firefox does not.
TOLERATED = {"default_locale without _locales"}


def make(folder: Path, keys: dict[str, Any], files: dict[str, str] | None = None) -> Manifest:
    return read_manifest(open_package(write(folder, Case("", json.dumps(keys), files or {}))))


def refusal(folder: Path, keys: dict[str, Any], files: dict[str, str] | None = None) -> str:
    with pytest.raises(ManifestError) as refused:
        make(folder, keys, files)
    return str(refused.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_manifest_means_what_it_means_to_firefox(tmp_path: Path, case: Case) -> None:
    answer = recorded()["manifests"][case.name]
    package = open_package(write(tmp_path, case))
    if case.name in FOUND_LATER or ("errors" in answer and case.name not in TOLERATED):
        with pytest.raises(ManifestError) as refused:
            read_manifest(package)
        assert re.match(r"(manifest|_locales/fr/messages)\.json: .+\. [A-Z].+\.$", str(refused.value))
        return
    language = json.loads(case.text).get("default_locale", "en") if '"default_locale"' in case.text else "en"
    manifest = read_manifest(package, languages=[language])
    if case.name in TOLERATED:
        assert manifest.warnings
        return
    assert manifest.keys == answer["keys"]
    assert list(manifest.required.permissions) == answer["permissions"]
    assert list(manifest.required.origins) == answer["origins"]
    assert msgspec.to_builtins(manifest.optional) == {key: tuple(value) for key, value in answer["optional"].items()}
    assert manifest.warnings or not answer["warnings"] or case.name == "storage"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"manifest_version": 2, "version": "1"}, "manifest.json: name: it is missing. Add it."),
        ({**BASE, "manifest_version": 1}, "manifest.json: manifest_version: Firefox and Hatbox support only 2 and 3. "),
        ({**BASE, "icons": {"48": 5}}, "manifest.json: icons.48: 5 is not text. Write text in double quotes."),
        (
            {**BASE, "background": {"scripts": ["data:," + "x" * 100]}},
            f'manifest.json: background.scripts[0]: "data:,{"x" * 53}… is not in the extension. ',
        ),
        (
            {**BASE, "commands": {"a b": {"suggested_key": {"mac": "Ctrl"}}}},
            'manifest.json: commands.a b.suggested_key.mac: "Ctrl" is not a key combination. '
            "Write one such as Ctrl+Shift+Y, Alt+1 or F8.",
        ),
    ],
)
def test_an_error_names_the_file_the_key_and_the_remedy(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    assert refusal(tmp_path, keys).startswith(message)


def test_a_language_that_is_broken_is_named_with_its_file(tmp_path: Path) -> None:
    files = {"_locales/en/messages.json": "{}", "_locales/de/messages.json": '{"a": {"message": 1}}'}
    assert refusal(tmp_path, {**BASE, "default_locale": "en"}, files).startswith("_locales/de/messages.json: a: ")


@pytest.mark.parametrize(
    ("keys", "warning"),
    [
        (
            {**BASE, "permissions": ["contextualIdentites"]},
            'permissions[0]: "contextualIdentites" is not a known permission '
            '(did you mean "contextualIdentities"?); it is ignored.',
        ),
        (
            {**BASE, "optional_permissions": ["contextualIdentities"]},
            'optional_permissions[0]: "contextualIdentities" cannot be optional; it is ignored.',
        ),
        (
            {**BASE, "optional_permissions": ["contextualidentities"]},
            'optional_permissions[0]: "contextualidentities" cannot be optional; it is ignored.',
        ),
        (
            {**BASE3, "permissions": ["https://a.example/*"]},
            'permissions[0]: "https://a.example/*" is a match pattern, which belongs in host_permissions; '
            "it is ignored.",
        ),
        ({**BASE3, "browser_action": {}}, "browser_action: manifest version 3 does not have this; it is ignored."),
        ({**BASE, "options_page": "o.html"}, 'options_page: "o.html" is not in the extension.'),
        (
            {**BASE, "default_locale": "en"},
            "default_locale: the folder _locales does not exist; messages have no text.",
        ),
    ],
)
def test_what_is_ignored_is_told(tmp_path: Path, keys: dict[str, Any], warning: str) -> None:
    assert make(tmp_path, keys).warnings == (f"manifest.json: {warning}",)


def test_without_languages_even_messages_that_are_always_there_are_left_alone(tmp_path: Path) -> None:
    assert make(tmp_path, {**BASE, "name": "__MSG_@@ui_locale__"}).name == "__MSG_@@ui_locale__"


def test_the_two_permissions_of_identities_are_two(tmp_path: Path) -> None:
    manifest = make(tmp_path, {**BASE, "permissions": ["contextualidentities"]})
    assert manifest.required.permissions == ("contextualidentities",)
    assert manifest.for_scripts()["permissions"] == ["contextualidentities"]
    assert manifest.warnings == ()


@pytest.mark.parametrize(("kinds", "held"), [(["none"], ()), (["searchTerms"], ("searchTerms",))])
def test_data_that_an_extension_collects(tmp_path: Path, kinds: list[str], held: tuple[str, ...]) -> None:
    gecko = {"data_collection_permissions": {"required": kinds}}
    manifest = make(tmp_path, {**BASE, "browser_specific_settings": {"gecko": gecko}})
    assert manifest.required.data_collection == held


def test_with_version_2_hosts_are_held_for_good(tmp_path: Path) -> None:
    keys = {**BASE, "permissions": ["<all_urls>"], "content_scripts": [{"matches": ["https://a.example/*"]}]}
    manifest = make(tmp_path, keys)
    assert (manifest.required, manifest.optional, manifest.at_install) == (Permissions((), ("<all_urls>",)), NONE, NONE)


def test_with_version_3_hosts_can_be_taken_back(tmp_path: Path) -> None:
    keys = {
        **BASE3,
        "permissions": ["tabs"],
        "host_permissions": ["https://a.example/x"],
        "optional_host_permissions": ["https://b.example/*"],
        "content_scripts": [{"matches": ["https://c.example/x*"]}],
    }
    manifest = make(tmp_path, keys)
    assert manifest.required == Permissions(("tabs",))
    assert manifest.at_install == Permissions((), ("https://a.example/*", "https://c.example/*"))
    assert set(manifest.optional.origins) == {"https://b.example/*", *manifest.at_install.origins}


def test_an_extension_without_an_id_gets_one_that_stays(tmp_path: Path) -> None:
    first, second = make(tmp_path / "a", BASE), make(tmp_path / "b", BASE)
    assert first.id == make(tmp_path / "a", BASE).id != second.id
    assert not first.has_own_id
    assert first.base_url == f"moz-extension://{first.uuid}/"


def test_the_id_of_the_manifest_is_the_id(tmp_path: Path) -> None:
    manifest = make(tmp_path, {**BASE, "applications": {"gecko": {"id": "hats@site.example"}}})
    assert (manifest.id, manifest.has_own_id) == ("hats@site.example", True)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({**BASE, "background": {"scripts": ["a.js"]}}, (True, False)),
        ({**BASE, "background": {"scripts": ["a.js"], "persistent": False}}, (False, False)),
        ({**BASE3, "background": {"scripts": ["a.js"]}}, (False, False)),
        ({**BASE3, "background": {"service_worker": "a.js", "type": "module"}}, (False, True)),
        ({**BASE, "background": {"service_worker": "a.js"}}, (False, True)),
    ],
)
def test_the_background(tmp_path: Path, keys: dict[str, Any], expected: tuple[bool, bool]) -> None:
    background = make(tmp_path, keys, {"a.js": ""}).background
    assert background is not None
    assert (background.persistent, background.service_worker) == expected


@pytest.mark.parametrize(
    ("version", "policy", "allowed"),
    [
        (2, None, False),
        (2, "script-src 'self' 'unsafe-eval'; object-src 'self'", True),
        (2, "default-src 'self' 'unsafe-eval'", True),
        (2, "script-src 'self'; style-src 'unsafe-eval'", False),
        (2, "script-src 'self' 'Unsafe-Eval'", True),
        (2, "script-src 'self'; script-src 'unsafe-eval'", False),
        (3, {"extension_pages": "script-src 'self' 'unsafe-eval'"}, False),
    ],
)
def test_code_from_text_needs_a_policy_that_allows_it(tmp_path: Path, version: int, policy: Any, allowed: bool) -> None:
    keys = {**BASE, "manifest_version": version, "content_security_policy": policy}
    assert make(tmp_path, keys).allows_eval is allowed


@pytest.mark.parametrize(
    "policy",
    [
        "script-src 'unsafe-inline'; script-src 'self'",
        "script-src 'self' 'Unsafe-Inline'",
        "script-src 'unsafe-inline',",
        "script-src 'self'; script-src-elem 'unsafe-inline'",
        "script-src 'self'; Script-Src-Attr 'unsafe-inline'",
    ],
)
def test_no_policy_allows_inline_scripts(tmp_path: Path, policy: str) -> None:
    found = make(tmp_path, {**BASE, "content_security_policy": policy})
    assert found.content_security_policy is None
    assert "'unsafe-inline' is not allowed in script-src" in "".join(found.warnings)


def test_scripts_see_whole_addresses(tmp_path: Path) -> None:
    files = {"a.js": "", "p.html": "", "_locales/en/messages.json": '{"@@x": {"message": "p"}}'}
    keys = {
        **BASE,
        "default_locale": "en",
        "background": {"scripts": ["a.js"]},
        "browser_action": {"default_popup": "__MSG_@@x__.html?a=1"},
        "icons": {"48": "/i/../x y.png"},
        "name": "__MSG_@@extension_id__",
    }
    manifest = make(tmp_path, keys, files)
    shown = manifest.for_scripts()
    assert shown["background"]["scripts"] == [f"{manifest.base_url}a.js"]
    assert shown["browser_action"]["default_popup"] == f"{manifest.base_url}p.html?a=1"
    assert shown["icons"] == {"48": f"{manifest.base_url}x%20y.png"}
    assert shown["name"] == manifest.uuid
    assert manifest.icons == {48: "/i/../x y.png"}
    assert json.loads(msgspec.json.encode(shown)) == shown


# A manifest of each kind that public container extensions have, with what is to be known of it.

SWITCHER: dict[str, Any] = {
    "manifest_version": 2,
    "name": "__MSG_extensionName__",
    "version": "8.2.0",
    "default_locale": "en",
    "description": "__MSG_extensionDescription__",
    "permissions": [
        "<all_urls>",
        "activeTab",
        "cookies",
        "contextMenus",
        "contextualIdentities",
        "tabs",
        "webRequestBlocking",
    ],
    "optional_permissions": ["bookmarks", "nativeMessaging", "proxy"],
    "browser_specific_settings": {"gecko": {"id": "@switcher", "strict_min_version": "91.1.0"}},
    "commands": {
        "_execute_browser_action": {"suggested_key": {"default": "Ctrl+Period", "mac": "MacCtrl+Period"}},
        "open_container_0": {"suggested_key": {"default": "Ctrl+Shift+1"}, "description": "__MSG_openContainer__"},
    },
    "browser_action": {"browser_style": True, "default_icon": "img/icon.svg", "default_popup": "popup.html"},
    "page_action": {"default_title": "Always open", "show_matches": ["*://*/*"]},
    "icons": {"48": "img/icon.svg", "96": "img/icon.svg"},
    "background": {"page": "js/background/index.html"},
    "content_scripts": [{"matches": ["<all_urls>"], "js": ["js/content.js"], "run_at": "document_start"}],
    "web_accessible_resources": ["/img/icon.svg"],
    "options_ui": {"page": "options.html"},
}
SWITCHER_FILES = {
    "_locales/en/messages.json": '{"extensionName": {"message": "Switcher"}, "openContainer": {"message": "Open $1"}}',
    "js/background/index.html": '<script src="../utils.js"></script><script type="module" src="main.js"></script>',
    "js/utils.js": "",
    "js/background/main.js": "",
    "js/content.js": "",
    "popup.html": "",
    "options.html": "",
    "img/icon.svg": "",
}
PROXY: dict[str, Any] = {
    "manifest_version": 3,
    "name": "Proxy per container",
    "version": "1.2",
    "permissions": ["proxy", "storage", "contextualIdentities", "cookies", "webRequest", "webRequestAuthProvider"],
    "host_permissions": ["<all_urls>"],
    "optional_permissions": ["browsingData", "privacy"],
    "background": {"service_worker": "background.js", "scripts": ["background.js"], "type": "module"},
    "action": {"default_popup": "popup.html", "default_icon": {"16": "i16.png", "32": "i32.png"}},
    "options_ui": {"page": "options.html", "open_in_tab": True},
    "storage": {"managed_schema": "schema.json"},
    "minimum_chrome_version": "108.0",
    "web_accessible_resources": [{"resources": ["img/*"], "matches": ["<all_urls>"]}],
    "browser_specific_settings": {
        "gecko": {"id": "{12345678-1234-1234-1234-123456789abc}", "strict_min_version": "128.0"}
    },
}
PROXY_FILES = dict.fromkeys(["background.js", "popup.html", "options.html", "schema.json"], "")


def test_a_container_switcher_of_version_2(tmp_path: Path) -> None:
    manifest = make(tmp_path, SWITCHER, SWITCHER_FILES)
    assert (manifest.id, manifest.name, manifest.description) == (
        "@switcher",
        "Switcher",
        "__MSG_extensionDescription__",
    )
    assert manifest.background is not None
    assert manifest.background.persistent
    assert [(script.file, script.module) for script in manifest.background.scripts] == [
        ("js/utils.js", False),
        ("js/background/main.js", True),
    ]
    assert manifest.commands["open_container_0"].description == "Open "
    assert manifest.commands["_execute_browser_action"].suggested_keys == {
        "default": "Ctrl+Period",
        "mac": "MacCtrl+Period",
    }
    assert manifest.action is not None
    assert (manifest.action.popup, manifest.action.icons) == ("popup.html", {0: "img/icon.svg"})
    assert manifest.page_action is not None
    assert manifest.page_action.title == "Always open"
    assert manifest.options is not None
    assert not manifest.options.open_in_tab
    assert manifest.strict_min_version == "91.1.0"
    assert manifest.web_accessible_resources[0].resources == ("/img/icon.svg",)
    assert manifest.content_scripts[0].run_at == "document_start"
    assert manifest.warnings == ()


def test_a_proxy_of_version_3(tmp_path: Path) -> None:
    manifest = make(tmp_path, PROXY, PROXY_FILES)
    assert manifest.id == "{12345678-1234-1234-1234-123456789abc}"
    assert manifest.background is not None
    assert [(script.file, script.module) for script in manifest.background.scripts] == [("background.js", True)]
    assert not manifest.background.service_worker
    assert manifest.at_install == Permissions((), ("<all_urls>",))
    assert manifest.action is not None
    assert manifest.action.icons == {16: "i16.png", 32: "i32.png"}
    assert manifest.options is not None
    assert manifest.options.open_in_tab
    assert manifest.managed_schema == "schema.json"
    assert manifest.minimum_chrome_version == "108.0"
    assert manifest.web_accessible_resources[0].matches == ("<all_urls>",)
    assert manifest.warnings == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
KEYS = sorted(recorded()["manifests"]["the least there can be"]["keys"] | {"action": 1, "host_permissions": 1})
# A real value with something else in one place of it.
PLACES = [(key, inner) for key, value in SWITCHER.items() for inner in (value if isinstance(value, dict) else [None])]


class OneFile(Package):
    """A package that has every file, and nothing in it but the manifest."""

    def __init__(self, manifest: Any) -> None:
        super().__init__(Path("/extension"))
        self._manifest = json.dumps(manifest).encode()

    def read(self, name: str) -> bytes | None:
        return self._manifest if name == "manifest.json" else b""

    def exists(self, name: str) -> bool:
        return True

    def names(self, folder: str = "") -> tuple[str, ...]:
        return ()


def check(manifest: Any) -> None:
    """It is read, in a form that can go to JavaScript, or refused with the place."""
    try:
        shown = read_manifest(OneFile(manifest)).for_scripts()
    except ExtensionError as error:
        assert str(error).startswith("manifest.json: ")
    else:
        assert json.loads(json.dumps(shown)) == shown


@given(JSON)
def test_whatever_a_manifest_is_it_is_read_or_refused(value: Any) -> None:
    check(value)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([BASE, BASE3]), st.dictionaries(st.sampled_from(KEYS), JSON, min_size=1, max_size=4))
def test_whatever_a_key_holds_it_is_read_or_refused(base: dict[str, Any], keys: dict[str, Any]) -> None:
    check(base | keys)


@given(st.sampled_from(PLACES), JSON, st.sampled_from([2, 3]))
def test_one_wrong_value_in_a_good_manifest_is_read_or_refused(
    place: tuple[str, str | None], value: Any, version: int
) -> None:
    key, inner = place
    changed = value if inner is None else SWITCHER[key] | {inner: value}
    check(SWITCHER | {"manifest_version": version, key: changed})


@given(
    st.lists(st.sampled_from(["tabs", "cookies", "frob", "https://a.example/*", "<all_urls>", "userScripts", 5, None]))
)
def test_permissions_are_split_and_none_is_invented(entries: list[Any]) -> None:
    required = read_manifest(OneFile({**BASE, "permissions": entries})).required
    assert set(required.permissions) == {"tabs", "cookies"} & {entry for entry in entries if isinstance(entry, str)}
    assert set(required.origins) == {"https://a.example/*", "<all_urls>"} & set(entries)


@pytest.mark.slow
def test_many_wrong_permissions_take_no_longer_than_right_ones(tmp_path: Path) -> None:
    manifest = make(tmp_path, {**BASE, "permissions": [f"contextualIdentity{number}" for number in range(50_000)]})
    assert len(manifest.warnings) == 50_000
    assert 'did you mean "contextualIdentities"?' in manifest.warnings[0]


def test_an_icon_of_a_size_that_no_number_holds_is_refused(tmp_path: Path) -> None:
    assert "Write the size of the icon" in refusal(tmp_path, {**BASE, "icons": {"9" * 5000: "a.png"}})
