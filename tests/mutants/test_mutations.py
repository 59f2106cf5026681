from __future__ import annotations

from pathlib import Path

from tests.mutants.mutations import choose, find, mutants_in

FILE = "src/hatbox/store/limits.py"
SOURCE = '''"""What is checked: é."""

__all__ = ["check"]


class Limits:
    """Not mutated: words, annotations, errors."""

    def check(self, value: "int", most: int = 3) -> None:
        if value > most:
            raise ValueError(f"more than {most}", "é", 1)
        self.note("é", value > most)

    async def save(self) -> None:
        await self.store.write(self.values)
'''
MUTANTS = [
    ("constant", "3", "4"),
    ("comparison", "value > most", "value >= most"),
    ("call", 'self.note("é", value > most)', "pass"),
    ("constant", '"é"', "'éx'"),
    ("comparison", "value > most", "value >= most"),
    ("call", "await self.store.write(self.values)", "pass"),
    ("await", "await self.store.write(self.values)", "self.store.write(self.values)"),
]


def written(root: Path, file: str, source: str = SOURCE) -> Path:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(source)
    return root


def test_every_kind_of_place_is_found_and_nothing_else(tmp_path: Path) -> None:
    places = mutants_in(written(tmp_path, FILE), FILE)
    assert [(each.mutant.kind, each.mutant.original, each.mutant.mutated) for each in places] == MUTANTS
    source = SOURCE.encode()
    for place in places:
        assert source[place.start : place.end].decode() == place.mutant.original
        compile(place.applied(source), FILE, "exec")


def test_the_same_mutants_are_chosen_again_and_found_in_a_later_version(tmp_path: Path) -> None:
    chosen = choose(written(tmp_path, FILE), 7, seed=1)
    assert choose(tmp_path, 7, seed=1) == chosen
    assert len(set(chosen)) == 7
    moved = written(tmp_path / "later", "src/hatbox/tabs/bounds.py", SOURCE.replace("\nclass", "\nX = 1\n\nclass"))
    for mutant in chosen:
        place = find(moved, mutant)
        assert place is not None
        assert place.mutant.path == "src/hatbox/tabs/bounds.py"
        assert (place.mutant.function, place.mutant.number) == (mutant.function, mutant.number)
    assert find(written(tmp_path / "gone", FILE, "X = 1\n"), chosen[0]) is None
