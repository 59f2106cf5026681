"""Finds which of many texts a long one contains, in one pass (Aho and Corasick). Pure."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["TextSearch"]


class TextSearch:
    """A search for texts that are not empty. Its time depends on the length of the searched text, not on how many."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._next: list[dict[str, int]] = [{}]  # by state; a state is the start of a text, and 0 is the empty one
        self._shorter = [0]  # the state of the longest proper end of a state
        self._found: list[str | None] = [None]
        self._next_found = [0]  # the nearest shorter state that is a whole text; 0 without one
        for text in texts:
            self._add(text)
        self._link()

    def contained_in(self, text: str) -> set[str]:
        """The texts that `text` contains."""
        steps, shorter, found, next_found = self._next, self._shorter, self._found, self._next_found
        seen, contained = {0}, set()
        state = 0
        for character in text:
            while (step := steps[state].get(character)) is None and state:
                state = shorter[state]
            state = step or 0
            if state in seen:
                continue
            end = state
            while end not in seen:
                seen.add(end)
                if (whole := found[end]) is not None:
                    contained.add(whole)
                end = next_found[end]
        return contained

    def _add(self, text: str) -> None:
        state = 0
        for character in text:
            step = self._next[state].get(character)
            if step is None:
                step = self._next[state][character] = len(self._next)
                self._next.append({})
                self._shorter.append(0)
                self._found.append(None)
                self._next_found.append(0)
            state = step
        self._found[state] = text

    def _link(self) -> None:
        """Set the links to shorter states, by length."""
        states = [*self._next[0].values()]
        for state in states:  # grows meanwhile
            for character, step in self._next[state].items():
                end = self._shorter[state]
                while character not in self._next[end] and end:
                    end = self._shorter[end]
                end = self._next[end].get(character, 0)
                self._shorter[step] = end
                self._next_found[step] = end if self._found[end] is not None else self._next_found[end]
                states.append(step)
