from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli.agent_clients.json_text import InvalidText, parse_json_text
from hatbox.cli.agent_clients.server_lists import JsonServers, TomlServers

STRICT = JsonServers("mcpServers")
EDITOR = JsonServers("servers", comments=True)
CODEX = TomlServers("mcp_servers")
SERVER = {"command": "/bin/hatbox", "args": ["mcp", "--identity", "firefox-container-2"]}

SETTINGS = """\
// Settings of the editor
{
    /* the theme */
    "theme": "dark",  // or "light"
    "servers": {
        // a server
        "other": { "command": "x", "args": ["a, b", "}", "// no comment"], },  // at work
    },
    "last": [1, 2,],
}
"""
TABLES = """\
model = "m"  # the model

# A server
[mcp_servers.other]
command = "x"

[mcp_servers.other.env]
KEY = "v"

# Profiles
[profiles.a]
model = "n"
"""

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
documents = st.dictionaries(st.text(max_size=6).filter(lambda key: key != "mcpServers"), plain_values, max_size=4)


def test_a_server_is_added_in_the_style_of_the_file_and_everything_else_stays() -> None:
    added = EDITOR.with_server(SETTINGS, "hatbox", SERVER)
    assert added == SETTINGS.replace(
        "// at work\n",
        """// at work
        "hatbox": {
            "command": "/bin/hatbox",
            "args": [
                "mcp",
                "--identity",
                "firefox-container-2"
            ]
        },
""",
    )
    assert EDITOR.without_server(added, "hatbox") == SETTINGS


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        '{"mcpServers": {}}',
        '{"mcpServers": {}, "a": 1}\n',
        '{"a":1,"mcpServers":{"other":{"command":"x"}}}',
        '{\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}',
        '{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n',
        '\ufeff{\n  "mcpServers": {}\n}\n',
    ],
)
def test_removing_a_server_restores_the_file(text: str) -> None:
    added = STRICT.with_server(text, "hatbox", SERVER)
    assert STRICT.servers(added)["hatbox"] == SERVER
    assert ("\r\n" in added) == ("\r\n" in text)
    assert added.replace("\r\n", "").count("\n") == 0 or "\r\n" not in text
    removed = STRICT.without_server(added, "hatbox")
    if "mcpServers" in text:
        assert removed == text
    else:
        assert json.loads(removed) == {"mcpServers": {}}


def test_a_new_file_has_indentation_and_a_last_newline() -> None:
    assert STRICT.with_server("", "hatbox", {"command": "x", "args": []}) == (
        '{\n  "mcpServers": {\n    "hatbox": {\n      "command": "x",\n      "args": []\n    }\n  }\n}\n'
    )


@given(documents, st.dictionaries(st.text(max_size=6), plain_values, max_size=3), st.sampled_from([None, 2, "\t"]))
def test_all_other_values_stay_in_any_document(
    document: dict[str, Any], servers: dict[str, Any], indent: int | str | None
) -> None:
    servers.pop("hatbox", None)
    whole = {**document, "mcpServers": servers}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    added = STRICT.with_server(text, "hatbox", SERVER)
    assert json.loads(added) == {**document, "mcpServers": {**servers, "hatbox": SERVER}}
    assert list(json.loads(added)["mcpServers"]) == [*servers, "hatbox"]
    assert STRICT.without_server(added, "hatbox") == text
    for name in servers:
        left = json.loads(STRICT.without_server(text, name))
        assert left == {**document, "mcpServers": {key: value for key, value in servers.items() if key != name}}


@given(st.lists(st.sampled_from(["1", ",", "{", "}", "[", "]", '"a"', ":", "/*", "*/", "//", "\n", " ", "null"])))
def test_what_is_accepted_without_comments_is_what_python_accepts(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(InvalidText):
            parse_json_text(text, comments=False)
    else:
        assert parse_json_text(text, comments=False).value == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1, column 2"),
        ('{\n  "a": 1,\n}', "line 3, column 1"),
        ('{"a": 1} x', "the end of the file"),
        ("{'a': 1}", "double quotes"),
        ("[]", "no object"),
        ('{"mcpServers": []}', "no object"),
        ('{"mcpServers": {}, "mcpServers": {}}', "2 times"),
        ("// comment\n{}", "a value"),
        ("[" * 3000, "levels"),
        ('{"a": 01}', "a value"),
        ('{"a": "\\x"}', "a value"),
    ],
)
def test_a_file_that_is_not_valid_is_an_error_that_names_the_place(text: str, problem: str) -> None:
    with pytest.raises(InvalidText, match=problem):
        STRICT.with_server(text, "hatbox", SERVER)


def test_a_member_between_comments_can_be_removed() -> None:
    text = '{"servers": {"a": {}, // first\n "b": {} /* b */, // second\n "c": {}}}'
    assert EDITOR.servers(EDITOR.without_server(text, "b")) == {"a": {}, "c": {}}
    assert EDITOR.without_server(text, "c") == '{"servers": {"a": {}, // first\n "b": {} /* b */ // second\n }}'


def test_a_table_is_added_at_the_end_of_toml_and_removed_again() -> None:
    server = {**SERVER, "env": {"HATBOX_KEY_FILE": '/a "b"\\c\x7fé'}}
    added = CODEX.with_server(TABLES, "hatbox-work", server)
    assert added.startswith(TABLES)
    assert CODEX.servers(added)["hatbox-work"] == server
    assert CODEX.without_server(added, "hatbox-work") == TABLES
    between = added + "\n# The end\n[tui]\na = 1\n"
    assert CODEX.without_server(between, "hatbox-work") == TABLES + "\n# The end\n[tui]\na = 1\n"
    without_other = CODEX.without_server(TABLES, "other")
    assert without_other == 'model = "m"  # the model\n\n# A server\n\n# Profiles\n[profiles.a]\nmodel = "n"\n'
    assert CODEX.servers(CODEX.with_server("", "hatbox", SERVER)) == {"hatbox": SERVER}


@pytest.mark.parametrize("text", ["mcp_servers = { }\n", "mcp_servers = 1\n", "a =\n"])
def test_toml_of_another_form_is_an_error(text: str) -> None:
    with pytest.raises(InvalidText):
        CODEX.with_server(text, "hatbox", SERVER)


def test_a_table_inside_a_long_string_is_not_removed() -> None:
    text = 'a = """\n[mcp_servers.hatbox]\nx = 1\n"""\n[mcp_servers]\nhatbox = { command = "hatbox" }\n'
    with pytest.raises(InvalidText):
        CODEX.without_server(text, "hatbox")


def test_an_edit_that_would_write_invalid_toml_is_an_error() -> None:
    text = CODEX.with_server("", "hatbox", SERVER) + "tags = [\n  [\n  'a'],\n]\n"
    with pytest.raises(InvalidText, match="cannot be edited"):
        CODEX.without_server(text, "hatbox")


def test_an_edit_that_would_lose_something_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "hatbox.cli.agent_clients.server_lists.with_member", lambda *_: '{"mcpServers": {"hatbox": {"command": "x"}}}'
    )
    with pytest.raises(InvalidText, match="cannot be edited"):
        STRICT.with_server('{"theme": "dark", "mcpServers": {}}', "hatbox", {"command": "x"})
