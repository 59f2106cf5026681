"""Sorting with a comparator: the same order, and the same calls, as in Firefox.

The recording is made with `python -m tests.extensions.runtime.test_sort`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hatbox.extensions.runtime import ScriptError
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno
from tests.firefox import Firefox

SCRIPT = Path(__file__).parent / "sorting.js"
RECORDING = Path(__file__).parent / "sorting.firefox.json"

pytestmark = needs_deno


def test_comparators_of_every_kind_sort_as_in_firefox(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        answers = await runtime.evaluate(f"(() => {{ {SCRIPT.read_text('utf-8')} }})()")
        assert answers == json.loads(RECORDING.read_text("utf-8"))

    in_lab(tmp_path, use)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[3, 1, 2].sort((a, b) => a > b)", [1, 2, 3]),
        ("[3, 1, 10, 2].sort()", [1, 10, 2, 3]),
        ("[3, 1, 10, 2].sort(undefined)", [1, 10, 2, 3]),
        ("(a => a.sort((x, y) => x - y) === a)([2, 1])", True),
        ("(a => { a.toSorted((x, y) => x - y); return a; })([2, 1])", [2, 1]),
        ("Array.prototype.sort.call({length: 2, 0: 'b', 1: 'a'}, (x, y) => x > y)[0]", "a"),
        ("[Array.prototype.sort.name, Array.prototype.sort.length]", ["sort", 1]),
        ("[Array.prototype.toSorted.name, Array.prototype.toSorted.length]", ["toSorted", 1]),
        ("Object.keys(Array.prototype)", []),
        ("(() => { try { new Array.prototype.sort(); } catch (error) { return error.name; } })()", "TypeError"),
        ("(() => { try { [].sort(1); } catch (error) { return error.name; } })()", "TypeError"),
        (
            "(() => { try { [2, 1].sort(() => { throw Error('x'); }); } catch (error) { return error.message; } })()",
            "x",
        ),
        (
            "(() => { try { Object.freeze([2, 1]).sort((a, b) => a - b); } catch (e) { return e.name; } })()",
            "TypeError",
        ),
        (
            "(() => { try { Array.prototype.sort.call(null, () => 0); } catch (error) { return error.name; } })()",
            "TypeError",
        ),
    ],
)
def test_the_methods_are_those_of_the_language(tmp_path: Path, expression: str, expected: object) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        assert await runtime.evaluate(expression) == expected

    in_lab(tmp_path, use)


def test_setters_on_prototypes_see_nothing_of_a_sort(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        script = """
        let called = 0;
        for (let i = 0; i < 20; i++) {
          Object.defineProperty(Object.prototype, i, {set() { called++; }, configurable: true});
        }
        const sorted = Array.from({length: 12}, (_, i) => 12 - i).sort((a, b) => a - b);
        for (let i = 0; i < 20; i++) delete Object.prototype[i];
        return [called, sorted[0], sorted[11]];
        """
        with pytest.raises(ScriptError):
            await runtime.evaluate("[1, 2].sort(Symbol())")
        assert await runtime.evaluate(f"(() => {{ {script} }})()") == [0, 1, 12]

    in_lab(tmp_path, use)


if __name__ == "__main__":
    with Firefox() as firefox:
        answers = firefox.run(SCRIPT.read_text("utf-8"))
    RECORDING.write_text("[\n" + ",\n".join(json.dumps(each) for each in answers) + "\n]\n", "utf-8")
