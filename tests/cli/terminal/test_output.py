from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from hatbox.cli.terminal.output import _GLYPHS, _NEUTRAL_GLYPH, print_identities, print_identity, print_json
from hatbox.identity.model import ContextualIdentity
from hatbox.identity.palette import ICONS
from tests.cli.conftest import Cli, Stream

OLD = ContextualIdentity("Old", "hourglass", "mauve", "firefox-container-9")


def test_every_icon_has_a_glyph_that_is_two_cells_wide() -> None:
    assert list(_GLYPHS) == [each.icon for each in ICONS]
    for glyph in (*_GLYPHS.values(), _NEUTRAL_GLYPH):
        assert (len(glyph), cell_len(glyph)) == (1, 2)


def test_a_person_sees_a_table_with_swatches_and_glyphs(cli: Cli) -> None:
    lines = cli("list", tty=True).out.splitlines()
    assert "Name" in lines[0]
    assert "\x1b[48;2;255;159;0m  \x1b[0m orange" in lines[3]
    assert "💼 briefcase" in lines[3]


def test_no_color_is_respected(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = cli("list", tty=True).out
    assert "[48;" not in shown
    assert "[38;" not in shown
    assert "💼 briefcase" in shown


def test_force_color_gives_the_table_to_a_pager(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "💼 briefcase" in cli("list").out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_a_terminal_that_cannot_show_glyphs_gets_words(cli: Cli, encoding: str) -> None:
    cli("create", "東京")
    shown = cli("list", tty=True, encoding=encoding)
    assert shown.status == 0
    assert "briefcase" in shown.out
    assert r"\u6771\u4eac" in shown.out


def test_a_value_that_this_version_does_not_know_gets_neutral_looks() -> None:
    stream = Stream(tty=True)
    print_identities([OLD], stream)
    assert f"{_NEUTRAL_GLYPH} hourglass" in stream.text()
    assert "mauve" in stream.text()


def test_a_hidden_identity_is_marked_for_a_person(cli: Cli) -> None:
    cli("hide", "Work")
    (line,) = (line for line in cli("list", tty=True).out.splitlines() if "Work" in line)
    assert line.rstrip().endswith("hidden")


def test_names_fold_in_a_narrow_terminal_and_ids_stay_whole(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    cli("create", "word " * 20)
    shown = cli("list", tty=True).out
    assert "firefox-container-6" in shown
    assert shown.count("word") == 20


COLORS = re.compile(r"\x1b\[[0-9;]*m")
WIDTHS = [20, 40, 52, 60, 80, 200]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_terminal_is_too_narrow_for_names_and_ids(cli: Cli, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    cli("create", "Clients of the second half-year")
    cli("create", "東京の仕事と生活のためのとても長い名前")
    cli("hide", "Work")
    shown = COLORS.sub("", cli("list", tty=True).out)
    for each in cli("list", "--json").json:
        assert each["cookieStoreId"] in shown
        assert each["color"] in shown
        assert each["icon"] in shown
    assert {"Personal", "Work", "Banking", "Shopping", "hidden"} <= set(shown.split())
    for word in ("Clients", "second", "half-year"):
        assert word in shown
    assert "東京の仕事と生活のためのとても長い名前" in "".join(re.findall(r"[\u3000-\u9fff]", shown))
    assert "…" not in shown
    assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= max(width, 21)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_terminal_is_too_narrow_for_a_cookie(cli: Cli, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    cli("cookies", "set", "Work", "https://www.site.example/a/path/of/pages", "session", "0123456789" * 3, "--secure")
    for options in ([], ["--show-values"]):
        shown = COLORS.sub("", cli("cookies", "list", "Work", *options, tty=True).out)
        assert {"www.site.example", "session", "secure"} <= set(shown.replace("\n", " ").split())
        assert "…" not in shown
    assert sum(map(shown.count, "0123456789")) >= 30


@pytest.mark.parametrize("width", WIDTHS)
def test_no_terminal_is_too_narrow_for_the_name_of_an_icon(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = cli("icons", tty=True).out
    for icon in ICONS:
        assert icon.icon in shown.split()
        assert icon.icon_url in shown  # in one piece, to be copied


def test_a_narrow_terminal_shows_as_much_of_a_tab_as_it_can(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    script = tmp_path / "tab.py"
    script.write_text(
        "from hatbox.tabs.strip import change, row_of\n"
        "await profile.tabs.open('firefox-default', 'https://site.example/' + 'a' * 50)\n"
        "await profile.tabs.write(lambda each: change(each, row_of(each, 1), title='Title ' * 10))\n"
    )
    assert cli("run", str(script)).status == 0
    assert COLORS.sub("", cli("tabs", tty=True).out).splitlines() == [
        "1  firefox-default",
        "  Title Title Title Title Title Title T…",
        "  https://site.example/aaaaaaaaaaaaaaaa…",
        "  active loading",
    ]


def test_columns_line_up_below_wide_characters(cli: Cli) -> None:
    cli("create", "東京")
    starts = {cell_len(line[: line.index("firefox-")]) for line in cli("list").out.splitlines()}
    assert len(starts) == 1


def test_a_very_long_list_is_printed_at_once_in_plain_columns() -> None:
    stream = Stream(tty=True)
    print_identities([OLD] * 1001, stream)
    assert stream.text() == "mauve  hourglass  Old  firefox-container-9\n" * 1001


def test_a_sentence_shows_the_identity_as_the_table_does() -> None:
    stream = Stream(tty=True)
    print_identity("Removed", OLD, stream)
    assert "Removed" in stream.text()
    assert _NEUTRAL_GLYPH in stream.text()
    assert "(firefox-container-9)" in stream.text()


def test_json_is_readable_where_it_can_be_and_ascii_elsewhere() -> None:
    for encoding, expected in (("utf-8", '"Läden\\u202e"\n'), ("latin-1", '"L\\u00e4den\\u202e"\n')):
        stream = Stream(encoding)
        print_json("Läden\u202e", stream)
        assert stream.text() == expected
