"""What bash, zsh and fish pass to a completion, and how they read the answer. The scripts are those of Typer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from hatbox.cli.completion.candidates import Suggestion

__all__ = ["ShellLine", "answer", "read_line", "split_words"]

_SAFE: Final = re.compile(r"[A-Za-z0-9_@%+,./-]+")
_IN_DOUBLE_QUOTES: Final = re.compile(r'(["\\$`])')


class ShellLine(NamedTuple):
    """The words before the cursor without quotes, the word at the cursor, and its opening quote."""

    words: list[str]
    incomplete: str
    quote: str = ""


def read_line(shell: str, environment: Mapping[str, str]) -> ShellLine:
    """The command line of a shell, without the name of the program."""
    if shell == "bash":
        return _read_bash(environment.get("COMP_WORDS", "").split("\n"), int(environment.get("COMP_CWORD", "0")))
    words = split_words(environment.get("_TYPER_COMPLETE_ARGS", ""))
    *before, (incomplete, quote) = words[1:] or [("", "")]
    return ShellLine([word for word, _ in before], incomplete, quote)


def _read_bash(raw: Sequence[str], place: int) -> ShellLine:
    """Bash passes its own words, and splits "--color=red" into three. It replaces only the last of them."""
    words = [split_words(word)[-1] for word in raw[: place + 1]]
    incomplete, quote = words[place] if place < len(words) else ("", "")
    before = [word for word, _ in words[1:place]]
    if incomplete == "=" and before:
        incomplete = ""
    elif before[-1:] == ["="] and len(before) > 1:
        before.pop()
    while "=" in before[1:-1]:
        at = before.index("=", 1)
        before[at - 1 : at + 2] = ["".join(before[at - 1 : at + 2])]
    return ShellLine(before, incomplete, quote)


def split_words(line: str) -> list[tuple[str, str]]:
    """The words of a line as a shell reads them, each with its unclosed quote. The last one is at the cursor."""
    words: list[tuple[str, str]] = []
    text, quote, escaped, inside = "", "", False, False  # inside: a word has started, which may be empty
    for character in line:
        if escaped:
            text, escaped = text + character, False
        elif character == "\\" and quote != "'":
            inside = escaped = True
        elif character == quote:
            quote = ""
        elif not quote and character in "\"'":
            quote, inside = character, True
        elif quote or not character.isspace():
            text, inside = text + character, True
        elif inside:
            words.append((text, ""))
            text, inside = "", False
    return [*words, (text, quote)]


def answer(shell: str, line: ShellLine, found: Sequence[Suggestion], environment: Mapping[str, str]) -> tuple[str, int]:
    """The text that the script of the shell reads, and the exit status."""
    if shell == "bash":
        return "".join(f"{_for_bash(each.value, line.quote)}\n" for each in found), 0
    if shell == "zsh":
        return _for_zsh(found), 0
    if environment.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return "", 0 if found else 1  # 1: fish offers files
    return "".join(f"{each.value}\t{each.help}\n" for each in found), 0


def _for_bash(value: str, quote: str) -> str:
    """The value as it is typed in bash: escaped, or as it continues after an opening quote."""
    if quote == '"':
        return _IN_DOUBLE_QUOTES.sub(r"\\\1", value)
    if quote == "'":
        return value.replace("'", "'\\''")
    return re.sub(r"([^\w@%+,./:=-])", r"\\\1", value)


def _for_zsh(found: Sequence[Suggestion]) -> str:
    """Zsh code for `eval`. The script does not quote it, so no value has a space or another special character."""
    if not found:
        return "_files\n"
    pairs = (each.value.replace("\\", "\\\\").replace(":", "\\:") + f":{each.help}" for each in found)
    return (
        f"local -a _hatbox_found; _hatbox_found=({' '.join(map(_zsh_word, pairs))}); _describe hatbox _hatbox_found\n"
    )


def _zsh_word(text: str) -> str:
    return "$'" + "".join(each if _SAFE.fullmatch(each) else _zsh_escape(each) for each in text) + "'"


def _zsh_escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x80 else f"\\U{number:08x}"
