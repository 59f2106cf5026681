from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import hatbox
from hatbox.cli.commands.console import completions
from tests.cli.conftest import Cli


def extension_in(folder: Path, background: str) -> Path:
    folder.mkdir()
    manifest = {
        "manifest_version": 2,
        "name": "For the console",
        "version": "1",
        "browser_specific_settings": {"gecko": {"id": "console-test@site.example"}},
        "background": {"scripts": ["background.js"]},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "background.js").write_text(background)
    return folder


@pytest.mark.deno
def test_what_is_declared_stays_and_await_may_stand_anywhere(cli: Cli) -> None:
    lines = "const all = await browser.contextualIdentities.query({})\nlet n = all.length; n * 2\n[n, all[1].name]\n"
    result = cli("console", stdin=lines)
    assert result.status == 0, result.err
    assert result.out.splitlines()[-2:] == ["8", '[ 4, "Work" ]']


@pytest.mark.deno
def test_an_error_is_reported_and_ends_piped_input(cli: Cli) -> None:
    result = cli("console", stdin='await browser.contextualIdentities.get("nobody")\n"not reached"\n')
    assert result.status == 1
    assert "Invalid contextual identity: nobody" in result.err
    assert "not reached" not in result.out


@pytest.mark.deno
def test_code_may_go_on_over_several_lines(cli: Cli) -> None:
    function = "function twice(n) {\n\n  return n * 2;\n}\n"
    code = function + "const four = await Promise.resolve(\n  twice(2)\n)\n`${four}\n`\n"
    result = cli("console", stdin=code)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == ["undefined", "4", '"4\\n"']


@pytest.mark.deno
def test_incomplete_code_is_reported(cli: Cli) -> None:
    result = cli("console", stdin="1 + 1\n[1,\n")
    assert (result.status, result.out, result.err) == (1, "2\n", "SyntaxError: Unexpected end of input\n")


@pytest.mark.deno
def test_results_are_lines_of_json_for_programs(cli: Cli) -> None:
    result = cli(
        "console", "--json", stdin='[1, {a: "b"}]\n(await browser.contextualIdentities.query({}))[1].name\nvoid 0\n'
    )
    assert (result.status, result.out.splitlines()) == (0, ['[1,{"a":"b"}]', '"Work"', "null"])


@pytest.mark.deno
def test_a_change_made_at_the_prompt_is_on_disk(cli: Cli) -> None:
    line = 'await browser.contextualIdentities.create({name: "Hat", color: "red", icon: "pet"})\n'
    assert cli("console", stdin=line).status == 0
    assert "Hat" in cli("list").out


@pytest.mark.deno
def test_the_prompt_is_in_the_scope_of_an_extension(cli: Cli, tmp_path: Path) -> None:
    place = extension_in(tmp_path / "extension", "const secret = 41;")
    result = cli("console", "--extension", str(place), stdin="secret + 1\ntypeof browser.contextualIdentities\n")
    assert result.out.splitlines() == ["42", '"undefined"']


def test_an_unknown_extension_is_reported(cli: Cli) -> None:
    result = cli("console", "--extension", "nobody@site.example", stdin="1\n")
    assert (result.status, result.out) == (1, "")
    assert 'extension not found: "nobody@site.example"' in result.err


@pytest.mark.deno
def test_an_extension_that_is_installed_can_be_named(cli: Cli, tmp_path: Path) -> None:
    cli("extensions", "install", str(extension_in(tmp_path / "extension", "const secret = 41;")))
    for name in ("For the console", "console-test@site.example"):
        assert cli("console", "--extension", name, stdin="secret\n").out == "41\n"


@pytest.mark.deno
def test_a_folder_with_the_id_of_an_installed_extension_has_nothing_of_it(cli: Cli, tmp_path: Path) -> None:
    cli("extensions", "install", str(extension_in(tmp_path / "extension", "localStorage.password = 'secret';")))
    ask = "({...localStorage})\n"
    assert cli("console", "--extension", "console-test@site.example", "--json", stdin=ask).json == {
        "password": "secret"
    }
    impostor = extension_in(tmp_path / "impostor", "")
    assert cli("console", "--extension", str(impostor), "--json", stdin=ask).json == {}


@pytest.mark.deno
def test_names_are_completed(tmp_path: Path) -> None:
    async def completed() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            place = extension_in(tmp_path / "extension", "const hats = {bowler: 1, beret: 2};")
            extension = await profile.extensions.start(place)
            assert await completions(extension, "hats.b") == ["hats.beret", "hats.bowler"]
            assert await completions(extension, "browser.runt") == ["browser.runtime"]
            assert "browser.runtime.getManifest" in await completions(extension, "browser.runtime.get")
            assert await completions(extension, "1 +") == []

    asyncio.run(completed())
