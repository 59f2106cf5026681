"""Manifests to read, good and bad, each with the files that it needs."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

__all__ = ["CASES", "LANGUAGES", "PATTERNS", "Case"]

BASE: dict[str, Any] = {"manifest_version": 2, "name": "n", "version": "1"}
BASE3: dict[str, Any] = {**BASE, "manifest_version": 3}


class Case(NamedTuple):
    """A manifest, as text, and the other files of the extension."""

    name: str
    text: str
    files: dict[str, str]


def _case(name: str, keys: dict[str, Any] | None = None, files: dict[str, str] | None = None) -> Case:
    """Manifest version 2 with these keys; a key whose value is ... is left out."""
    manifest = {key: value for key, value in (BASE | (keys or {})).items() if value is not ...}
    return Case(name, json.dumps(manifest), files or {})


def _case3(name: str, keys: dict[str, Any] | None = None, files: dict[str, str] | None = None) -> Case:
    return _case(name, BASE3 | (keys or {}), files)


def _gecko(**keys: Any) -> dict[str, Any]:
    return {"browser_specific_settings": {"gecko": keys}}


MESSAGES = {
    "_locales/en/messages.json": '{"name": {"message": "Hats"}, "Title": {"message": "Put on $1 $hat$"}}',
    "_locales/de_AT/messages.json": '{"name": {"message": "Hüte"}}',
}
SCRIPTS = {"a.js": "", "b.js": "", "page.html": "<script src=a.js></script>"}
HANDLER = {"protocol": "ext+hat", "name": "Hat", "uriTemplate": "/open.html#%s"}
CONTENT_SCRIPT = {"matches": ["https://site.example/*"], "js": ["a.js"]}

POPUPS = (
    "chrome://browser/content/browser.xhtml",
    "about:blank",
    "about:config",
    "blob:x",
    "data:text/html,x",
    "file:///x.html",
    "https:x.example",
    "HTTPS://x.example",
    "https://",
    "javascript:1",
    "moz-extension://11111111-2222-3333-4444-555555555555/x.html",
    "resource://gre/x",
    "view-source:https://x.example/",
    "//x.example/y",
    " chrome://x/y ",
    "mailto:x",
    "../../x.html",
)

CASES: tuple[Case, ...] = (
    # What every manifest has
    _case("the least there can be"),
    _case3("the least there can be, version 3"),
    _case("no manifest_version", {"manifest_version": ...}),
    _case("manifest_version 1", {"manifest_version": 1}),
    _case("manifest_version 4", {"manifest_version": 4}),
    _case("manifest_version as text", {"manifest_version": "2"}),
    _case("manifest_version 2.0", {"manifest_version": 2.0}),
    _case("manifest_version 2.5", {"manifest_version": 2.5}),
    _case("no name", {"name": ...}),
    _case("name is a number", {"name": 5}),
    _case("name is null", {"name": None}),
    _case("name is empty", {"name": ""}),
    _case("name is long", {"name": "n" * 80}),
    _case("no version", {"version": ...}),
    _case("version is a number", {"version": 1.5}),
    _case("version with a leading zero", {"version": "1.01"}),
    _case("version with letters", {"version": "1.0beta"}),
    _case("version is empty", {"version": ""}),
    _case(
        "description and author",
        {"description": "d", "author": "a", "short_name": "s", "homepage_url": "https://x.example"},
    ),
    _case("description is a number", {"description": 1}),
    _case("author is a number", {"author": 1}),
    _case("homepage_url is relative", {"homepage_url": "x"}),
    _case("developer", {"developer": {"name": "x", "url": "https://x.example/"}}),
    _case("developer with something else", {"developer": {"name": "x", "mail": "y"}}),
    _case("developer's url is relative", {"developer": {"url": "y"}}),
    _case("unknown key", {"frobnicate": {"a": [1]}}),
    _case("$schema and key", {"$schema": "https://json.schemastore.org/webextension", "key": "abc", "__note": 1}),
    _case("optional keys are null", {"description": None, "background": None, "permissions": None, "icons": None}),
    # The text
    Case("comments", '// one\n{"manifest_version": 2, // two\n"name": "http://x // y", "version": "1"}\n// three', {}),
    Case("comment after an escaped quote", '{"manifest_version": 2, "name": "a\\"//b", "version": "1"}', {}),
    Case("block comment", '/* one */{"manifest_version": 2, "name": "n", "version": "1"}', {}),
    Case("byte order mark", '\ufeff{"manifest_version": 2, "name": "n", "version": "1"}', {}),
    Case("trailing comma", '{"manifest_version": 2, "name": "n", "version": "1",}', {}),
    Case("a key twice", '{"manifest_version": 2, "name": "n", "version": "1", "name": "m"}', {}),
    Case("an array", "[]", {}),
    Case("empty", "", {}),
    Case("null", "null", {}),
    Case("NaN", '{"manifest_version": 2, "name": "n", "version": "1", "x": NaN}', {}),
    Case("unterminated string", '{"manifest_version": 2, "name": "n', {}),
    # The id
    _case("id", _gecko(id="hats@site.example")),
    _case("id as a uuid", _gecko(id="{12345678-1234-1234-1234-123456789ABC}")),
    _case("id without anything before the at sign", _gecko(id="@hats")),
    _case("id that is none", _gecko(id="hats")),
    _case("id with a space", _gecko(id="a b@c")),
    _case("id is a number", _gecko(id=5)),
    _case("id in applications", {"applications": {"gecko": {"id": "old@site.example"}}}),
    _case3("id in applications, version 3", {"applications": {"gecko": {"id": "old@site.example"}}}),
    _case("id in both", {"applications": {"gecko": {"id": "old@site.example"}}, **_gecko(id="new@site.example")}),
    _case("other browsers' settings", {"browser_specific_settings": {"safari": {"x": 1}, "edge": {"y": 2}}}),
    _case("versions of Firefox", _gecko(id="a@b", strict_min_version="91.1", strict_max_version="200.*")),
    _case("strict_min_version with a star", _gecko(id="a@b", strict_min_version="91.*")),
    _case("unknown key of gecko", _gecko(id="a@b", frob=1)),
    _case("gecko_android", {"browser_specific_settings": {"gecko_android": {"strict_min_version": "120.0"}}}),
    _case(
        "data collection",
        _gecko(id="a@b", data_collection_permissions={"required": ["none"], "optional": ["technicalAndInteraction"]}),
    ),
    _case(
        "data collection that is required",
        _gecko(data_collection_permissions={"required": ["locationInfo", "frob"], "optional": ["searchTerms"]}),
    ),
    _case("data collection, none and more", _gecko(data_collection_permissions={"required": ["none", "searchTerms"]})),
    _case("minimum_chrome_version", {"minimum_chrome_version": "88", "minimum_opera_version": "1"}),
    _case("minimum_chrome_version is a number", {"minimum_chrome_version": 88}),
    # Incognito
    _case("incognito split", {"incognito": "split"}),
    _case("incognito not_allowed", {"incognito": "not_allowed"}),
    _case("incognito is something else", {"incognito": "maybe"}),
    # The background
    _case("background scripts", {"background": {"scripts": ["a.js", "/b.js"]}}, SCRIPTS),
    _case(
        "background scripts that are event pages", {"background": {"scripts": ["a.js"], "persistent": False}}, SCRIPTS
    ),
    _case3("background scripts, version 3", {"background": {"scripts": ["a.js"], "type": "module"}}, SCRIPTS),
    _case3("persistent in version 3", {"background": {"scripts": ["a.js"], "persistent": True}}, SCRIPTS),
    _case("persistent is text", {"background": {"scripts": ["a.js"], "persistent": "no"}}, SCRIPTS),
    _case("background page", {"background": {"page": "page.html"}}, SCRIPTS),
    _case("background page and scripts", {"background": {"page": "page.html", "scripts": ["b.js"]}}, SCRIPTS),
    _case3("service worker and scripts", {"background": {"service_worker": "b.js", "scripts": ["a.js"]}}, SCRIPTS),
    _case3(
        "service worker preferred",
        {"background": {"service_worker": "b.js", "scripts": ["a.js"], "preferred_environment": ["service_worker"]}},
        SCRIPTS,
    ),
    _case3(
        "environment that is none",
        {"background": {"scripts": ["a.js"], "preferred_environment": ["document", "frob"]}},
        SCRIPTS,
    ),
    _case("background without anything", {"background": {}}),
    _case("background scripts are empty", {"background": {"scripts": []}}),
    _case("background is text", {"background": "a.js"}),
    _case("background scripts is text", {"background": {"scripts": "a.js"}}, SCRIPTS),
    _case("background script is a number", {"background": {"scripts": [1]}}),
    _case("background script from elsewhere", {"background": {"scripts": ["https://x.example/a.js"]}}),
    _case("background script without a scheme", {"background": {"scripts": ["//x.example/a.js"]}}),
    _case("background type is something else", {"background": {"scripts": ["a.js"], "type": "frob"}}, SCRIPTS),
    _case("background has an unknown key", {"background": {"scripts": ["a.js"], "frob": 1}}, SCRIPTS),
    # Permissions
    _case(
        "permissions",
        {"permissions": ["tabs", "cookies", "contextualIdentities", "<all_urls>", "*://*.site.example/a*"]},
    ),
    _case("a permission twice", {"permissions": ["tabs", "tabs", "https://a.example/*", "https://a.example/b"]}),
    _case("unknown permission", {"permissions": ["tabs", "frob", "activeTab"]}),
    _case("permission is a number", {"permissions": ["tabs", 5, None, {"fileSystem": ["write"]}]}),
    _case("permissions is text", {"permissions": "tabs"}),
    _case("permissions is an object", {"permissions": {}}),
    _case("privileged permission", {"permissions": ["mozillaAddons", "telemetry", "tabs"]}),
    _case(
        "userScripts in version 2", {"permissions": ["userScripts"], "optional_permissions": ["userScripts", "tabs"]}
    ),
    _case3("userScripts in version 3", {"permissions": ["userScripts"], "optional_permissions": ["userScripts"]}),
    _case("experiments", {"permissions": ["experiments.frob"]}),
    _case(
        "patterns",
        {
            "permissions": [
                "https://a.example",
                "https://a.example/",
                "https://a.example:8080/*",
                "http://*/*",
                "*://*/*",
                "https://*.*.example/*",
                "https://*example/*",
                "file:///*",
                "file://host/*",
                "ftp://a.example/*",
                "ws://a.example/*",
                "data:*",
                "about:blank",
                "resource://a/*",
                "moz-extension://*/*",
                "chrome://a/*",
                "HTTPS://a.example/*",
                "https://UPPER.example/*",
                "https://münchen.example/*",
                "https://[::1]/*",
                "*://a.example/b?c=*#d",
                "https:///*",
                "http*://a.example/*",
                "https://a .example/*",
                "*",
                "",
            ]
        },
    ),
    _case3("hosts among the permissions of version 3", {"permissions": ["tabs", "https://a.example/*", "<all_urls>"]}),
    _case3("host permissions", {"host_permissions": ["https://a.example/*", "tabs", "<all_urls>", 5]}),
    _case("host permissions in version 2", {"host_permissions": ["https://a.example/*"]}),
    _case(
        "optional permissions",
        {
            "optional_permissions": [
                "bookmarks",
                "https://*/*",
                "contextualIdentities",
                "frob",
                "contextMenus",
                "<all_urls>",
            ]
        },
    ),
    _case3("optional permissions, version 3", {"optional_permissions": ["bookmarks", "https://*/*"]}),
    _case3("optional host permissions", {"optional_host_permissions": ["https://*/*", "bookmarks"]}),
    _case("optional host permissions in version 2", {"optional_host_permissions": ["https://*/*"]}),
    _case("permission that is required and optional", {"permissions": ["tabs"], "optional_permissions": ["tabs"]}),
    _case3("granted_host_permissions", {"host_permissions": ["https://a.example/*"], "granted_host_permissions": True}),
    # Buttons, commands and pages
    _case(
        "browser_action", {"browser_action": {"default_title": "T", "default_popup": "p.html", "default_icon": "i.png"}}
    ),
    _case("browser_action is empty", {"browser_action": {}}),
    _case("browser_action with icons", {"browser_action": {"default_icon": {"16": "a.png", "32": "b.png"}}}),
    _case("browser_action with an icon of no size", {"browser_action": {"default_icon": {"big": "a.png"}}}),
    _case("browser_action with an unknown key", {"browser_action": {"frob": 1}}),
    _case("browser_action with a popup from elsewhere", {"browser_action": {"default_popup": "https://x.example/"}}),
    *(
        _case(f"browser_action with the popup {popup}", {"browser_action": {"default_popup": popup}})
        for popup in POPUPS
    ),
    _case3("action with a popup of the browser", {"action": {"default_popup": POPUPS[0]}}),
    _case("page_action with a popup of the browser", {"page_action": {"default_popup": POPUPS[0]}}),
    _case3("page_action with a popup of the browser, version 3", {"page_action": {"default_popup": POPUPS[0]}}),
    _case(
        "browser_action with theme icons",
        {"browser_action": {"theme_icons": [{"light": "a", "dark": "b", "size": 16}]}},
    ),
    _case("browser_action in an unknown area", {"browser_action": {"default_area": "frob"}}),
    _case("browser_action is text", {"browser_action": "x"}),
    _case("action in version 2", {"action": {"default_title": "T"}}),
    _case3("action", {"action": {"default_title": "T", "default_area": "navbar", "browser_style": True}}),
    _case3("browser_action in version 3", {"browser_action": {"default_title": "T"}}),
    _case(
        "page_action", {"page_action": {"default_title": "T", "show_matches": ["https://a.example/*"], "pinned": False}}
    ),
    _case("page_action that hides everywhere", {"page_action": {"hide_matches": ["<all_urls>"]}}),
    _case("sidebar_action", {"sidebar_action": {"default_panel": "s.html", "default_title": "S"}}),
    _case("sidebar_action without a panel", {"sidebar_action": {"default_title": "S"}}),
    _case("options_ui", {"options_ui": {"page": "o.html", "open_in_tab": True}}),
    _case("options_ui without a page", {"options_ui": {"open_in_tab": True}}),
    _case("options_page", {"options_page": "o.html"}),
    _case3("options_ui, version 3", {"options_ui": {"page": "o.html", "chrome_style": True}}),
    _case("options_ui and options_page", {"options_ui": {"page": "a.html"}, "options_page": "b.html"}),
    _case(
        "commands",
        {
            "commands": {
                "_execute_browser_action": {"suggested_key": {"default": "Ctrl+Shift+Y", "mac": "MacCtrl+Y"}},
                "open": {"suggested_key": {"default": "Alt+1"}, "description": "Open"},
                "play": {"suggested_key": {"default": "MediaPlayPause"}},
                "none": {},
            }
        },
    ),
    _case("command with a key that is none", {"commands": {"open": {"suggested_key": {"default": "Foo+X"}}}}),
    _case("command with a key without modifier", {"commands": {"open": {"suggested_key": {"default": "X"}}}}),
    _case("command with an F key", {"commands": {"open": {"suggested_key": {"default": "F8", "linux": "Shift+F2"}}}}),
    _case("command with F13", {"commands": {"open": {"suggested_key": {"default": "F13"}}}}),
    _case("command with Shift alone", {"commands": {"open": {"suggested_key": {"default": "Shift+X"}}}}),
    _case("command with three modifiers", {"commands": {"open": {"suggested_key": {"default": "Ctrl+Alt+Shift+X"}}}}),
    _case("command with two modifiers", {"commands": {"a": {"suggested_key": {"default": "Alt+Ctrl+X"}}}}),
    _case("command with lower case", {"commands": {"a": {"suggested_key": {"default": "ctrl+x"}}}}),
    _case("command with spaces", {"commands": {"a": {"suggested_key": {"default": "Ctrl + Comma"}}}}),
    _case("command with an empty key", {"commands": {"a": {"suggested_key": {"default": ""}}}}),
    _case("command for an unknown system", {"commands": {"a": {"suggested_key": {"beos": "Ctrl+X"}}}}),
    _case("command for chromeos", {"commands": {"a": {"suggested_key": {"chromeos": "Frob"}}}}),
    _case("command with an unknown key", {"commands": {"a": {"global": True}}}),
    _case("command is text", {"commands": {"a": "Ctrl+X"}}),
    _case("omnibox", {"omnibox": {"keyword": "hat"}}),
    _case("omnibox with spaces", {"omnibox": {"keyword": "a b"}}),
    _case("chrome_url_overrides", {"chrome_url_overrides": {"newtab": "n.html"}}),
    _case("chrome_url_overrides that Firefox has not", {"chrome_url_overrides": {"history": "n.html"}}),
    _case("chrome_url_overrides of something", {"chrome_url_overrides": {"frob": "n.html"}}),
    _case("devtools_page", {"devtools_page": "d.html"}),
    _case("user_scripts", {"user_scripts": {"api_script": "u.js"}}),
    _case3("user_scripts, version 3", {"user_scripts": {"api_script": "u.js"}}),
    _case("icons", {"icons": {"48": "a.svg", "96": "/b.png"}}),
    _case("icons of no size", {"icons": {"big": "a.svg"}}),
    _case("icon that is blank", {"icons": {"48": " "}}),
    _case("icons is text", {"icons": "a.png"}),
    # What pages may have
    _case("web_accessible_resources", {"web_accessible_resources": ["a.png", "/b/*", "//c"]}),
    _case(
        "web_accessible_resources as in version 3", {"web_accessible_resources": [{"resources": ["a"], "matches": []}]}
    ),
    _case3(
        "web_accessible_resources, version 3",
        {"web_accessible_resources": [{"resources": ["a.png"], "matches": ["<all_urls>"], "extension_ids": ["*"]}]},
    ),
    _case3("web_accessible_resources for nobody", {"web_accessible_resources": [{"resources": ["a.png"]}]}),
    _case3("web_accessible_resources as in version 2", {"web_accessible_resources": ["a.png"]}),
    _case3(
        "web_accessible_resources with use_dynamic_url",
        {"web_accessible_resources": [{"resources": ["a"], "matches": ["<all_urls>"], "use_dynamic_url": True}]},
    ),
    _case("content_scripts", {"content_scripts": [CONTENT_SCRIPT | {"run_at": "document_start", "all_frames": True}]}),
    _case("content_scripts without matches", {"content_scripts": [{"js": ["a.js"]}]}),
    _case("content_scripts with empty matches", {"content_scripts": [{"matches": [], "js": ["a.js"]}]}),
    _case("content_scripts with a pattern that is none", {"content_scripts": [{"matches": ["frob"]}]}),
    _case("content_scripts at an unknown time", {"content_scripts": [CONTENT_SCRIPT | {"run_at": "later"}]}),
    _case("content_scripts in the world", {"content_scripts": [CONTENT_SCRIPT | {"world": "MAIN"}]}),
    _case("content_scripts with an unknown key", {"content_scripts": [CONTENT_SCRIPT | {"frob": 1}]}),
    _case(
        "content_scripts with globs",
        {"content_scripts": [CONTENT_SCRIPT | {"include_globs": ["*x*"], "css": ["a.css"]}]},
    ),
    _case3(
        "content_scripts, version 3", {"content_scripts": [CONTENT_SCRIPT], "host_permissions": ["https://b.example/*"]}
    ),
    _case("content_security_policy", {"content_security_policy": "script-src 'self'; object-src 'self'"}),
    _case(
        "content_security_policy with anything inline", {"content_security_policy": "script-src 'self' 'unsafe-inline'"}
    ),
    _case(
        "content_security_policy is an object", {"content_security_policy": {"extension_pages": "script-src 'self'"}}
    ),
    _case3("content_security_policy, version 3", {"content_security_policy": {"extension_pages": "script-src 'self'"}}),
    _case3("content_security_policy is text", {"content_security_policy": "script-src 'self'"}),
    _case3("content_security_policy with a sandbox", {"content_security_policy": {"sandbox": "sandbox"}}),
    _case("storage", {"storage": {"managed_schema": "schema.json"}, "permissions": ["storage"]}),
    _case("install_origins", {"install_origins": ["https://a.example"]}),
    _case("install_origins with a path", {"install_origins": ["https://a.example/b"]}),
    _case("hidden", {"hidden": True}),
    _case("l10n_resources", {"l10n_resources": ["a.ftl"]}),
    _case(
        "declarative_net_request",
        {"declarative_net_request": {"rule_resources": [{"id": "a", "enabled": True, "path": "r.json"}]}},
    ),
    _case("protocol_handlers", {"protocol_handlers": [{"protocol": "magnet", "name": "M", "uriTemplate": "/h?u=%s"}]}),
    _case("protocol_handlers of our own", {"protocol_handlers": [HANDLER, HANDLER | {"protocol": "web+hat-1.x"}]}),
    _case("protocol_handlers on the web", {"protocol_handlers": [HANDLER | {"uriTemplate": "https://a.example?u=%s"}]}),
    _case("protocol_handlers without a place", {"protocol_handlers": [HANDLER | {"uriTemplate": "open.html"}]}),
    _case("protocol_handlers over FTP", {"protocol_handlers": [HANDLER | {"uriTemplate": "ftp://a.example/%s"}]}),
    _case("protocol_handlers of https", {"protocol_handlers": [HANDLER | {"protocol": "https"}]}),
    _case("protocol_handlers in capitals", {"protocol_handlers": [HANDLER | {"protocol": "ext+Hat"}]}),
    _case("protocol_handlers of nothing", {"protocol_handlers": [HANDLER | {"protocol": "ext+"}]}),
    _case("protocol_handlers without a name", {"protocol_handlers": [{"protocol": "ext+a", "uriTemplate": "/%s"}]}),
    _case("protocol_handlers with an unknown key", {"protocol_handlers": [HANDLER | {"frob": 1}]}),
    _case("protocol_handlers is an object", {"protocol_handlers": HANDLER}),
    _case("chrome_settings_overrides", {"chrome_settings_overrides": {"homepage": "h.html"}}),
    _case3(
        "version_name and externally_connectable", {"version_name": "one", "externally_connectable": {"ids": ["*"]}}
    ),
    # Languages
    _case(
        "localised",
        {"default_locale": "en", "name": "__MSG_name__!", "description": "__MSG_NAME__ __MSG_frob__"},
        MESSAGES,
    ),
    _case(
        "localised everywhere",
        {
            "default_locale": "en",
            "author": "__MSG_name__",
            "icons": {"48": "__MSG_name__.png"},
            "version": "__MSG_name__",
            "browser_action": {"default_title": "__MSG_title__", "default_popup": "__MSG_name__.html"},
            "commands": {"a": {"description": "__MSG_name__"}, "__MSG_name__": {}},
            "background": {"scripts": ["__MSG_name__.js"]},
            "omnibox": {"keyword": "__MSG_name__"},
            "sidebar_action": {"default_panel": "__MSG_name__.html", "default_title": "__MSG_name__"},
            "frob": "__MSG_name__",
        },
        MESSAGES | {"__MSG_name__.js": ""},
    ),
    _case("not localised", {"name": "__MSG_name__"}),
    _case("default_locale with an underscore", {"default_locale": "de_AT", "name": "__MSG_name__"}, MESSAGES),
    _case("default_locale with a hyphen", {"default_locale": "de-AT", "name": "__MSG_name__"}, MESSAGES),
    _case("default_locale that is not there", {"default_locale": "fr", "name": "__MSG_name__"}, MESSAGES),
    _case("default_locale without _locales", {"default_locale": "en"}),
    _case("default_locale is a number", {"default_locale": 5}),
    _case("default_locale is empty", {"default_locale": ""}, MESSAGES),
    _case("_locales without default_locale", {}, MESSAGES),
    _case("_locales with a file", {"default_locale": "en"}, MESSAGES | {"_locales/README": ""}),
    _case("_locales with a folder without messages", {"default_locale": "en"}, MESSAGES | {"_locales/fr/other": ""}),
    _case("messages that cannot be read", {"default_locale": "en"}, MESSAGES | {"_locales/fr/messages.json": "{"}),
    _case("messages that are an array", {"default_locale": "en"}, MESSAGES | {"_locales/fr/messages.json": "[]"}),
    _case("message without message", {"default_locale": "en"}, MESSAGES | {"_locales/fr/messages.json": '{"a": {}}'}),
    _case("message is text", {"default_locale": "en"}, MESSAGES | {"_locales/fr/messages.json": '{"a": "b"}'}),
    # Other kinds of add-ons
    _case("a theme", {"theme": {"colors": {}}}),
    _case("a language pack", {"langpack_id": "de", "languages": {}}),
    _case("a dictionary", {"dictionaries": {"de": "de.dic"}}),
)

PATTERNS: tuple[str, ...] = (
    "<all_urls>",
    "*://*/*",
    "https://*/*",
    "https://a.example/*",
    "https://*.a.example/*",
    "https://b.a.example/*",
    "https://*.b.a.example/*",
    "*://*.a.example/*",
    "ws://a.example/*",
    "file:///*",
    "file:///etc/*",
    "file://host/*",
    "https://a.example/path/x",
    "https://A.example/*",
    "https://a.example:80/*",
    "ftp://a.example/*",
    "https://[::1]/*",
    "https://*.example/*",
)

# What a user wants, and what there is; "en" is the default.
LANGUAGES: tuple[tuple[list[str], list[str]], ...] = (
    (["en-US"], ["en-GB", "fr"]),
    (["en-US"], ["en", "en-GB", "fr"]),
    (["pt-BR"], ["pt", "en"]),
    (["pt"], ["pt-PT", "pt-BR", "en"]),
    (["pt-PT"], ["pt-BR", "en"]),
    (["zh"], ["zh-TW", "zh-CN"]),
    (["zh"], ["zh-TW"]),
    (["zh-TW"], ["zh-CN", "zh-Hant"]),
    (["zh-HK"], ["zh-CN", "zh-TW"]),
    (["de"], ["fr"]),
    (["de"], []),
    (["de", "fr"], ["fr", "de-AT"]),
    (["en-US"], ["en-us", "en"]),
    (["sr"], ["sr-Latn"]),
    (["sr-Latn"], ["sr"]),
    (["nb-NO"], ["no", "nb"]),
    (["en"], ["en-GB", "en-US"]),
    (["en-AU"], ["en-GB", "en-US"]),
    (["x"], ["x", "README", "en-US"]),
    (["es-MX"], ["es-419", "es-ES", "es"]),
    (["es-MX"], ["es-419", "es-ES"]),
    (["az"], ["az-Cyrl", "az-Latn"]),
    (["en-US"], ["fr", "en-CA", "en-GB"]),
    (["ca-valencia"], ["ca"]),
    (["ja-JP-mac"], ["ja"]),
    (["de-AT"], ["de-CH", "de"]),
    (["de-AT"], ["de-CH", "de-DE"]),
    (["ko", "fil-PH"], ["fil", "fr"]),
)
