"""Other names of commands: `rm`, `ls`, `help COMMAND` and `version`. Pure lists of words."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from hatbox.cli.table.direct_parser import split_command_line

__all__ = ["without_aliases"]


def without_aliases(arguments: Sequence[str], aliases: Mapping[str, str], groups: Container[str]) -> list[str]:
    """The command line with the names of commands in place of aliases."""
    line = split_command_line(arguments)
    rest = list(line.rest)
    if not rest:
        return list(arguments)
    if rest[0] == "version":
        rest[0] = "--version"
    elif rest[0] == "help":
        rest = [*_named(rest[1:], aliases, groups), "--help"]
    else:
        rest = _named(rest, aliases, groups)
    return list(arguments) if rest == line.rest else [*line.before, *rest]


def _named(words: Sequence[str], aliases: Mapping[str, str], groups: Container[str]) -> list[str]:
    places = 2 if words and words[0] in groups else 1
    return [*(aliases.get(word, word) for word in words[:places]), *words[places:]]
