"""Scripts that use IndexedDB, and what Firefox answers: `python -m tests.extensions.indexed_db` records it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.firefox import Firefox

RECORDING = Path(__file__).with_name("indexed_db.firefox.json")

PRELUDE = Path(__file__).with_name("indexed_db_prelude.js").read_text("utf-8")
CASES: list[str] = json.loads(Path(__file__).with_name("indexed_db.json").read_text("utf-8"))


def script(source: str) -> str:
    """The script of a case. It deletes all databases first."""
    return f"""{PRELUDE}
    for (const {{name}} of await indexedDB.databases()) await done(indexedDB.deleteDatabase(name));
    try {{ return await (async () => {{ {source} }})(); }}
    catch (e) {{ return ["threw", e.name, e.message]; }}
    """


def recorded() -> list[Any]:
    """Firefox's answers, in the order of CASES."""
    answers: list[Any] = json.loads(RECORDING.read_text("ascii"))
    return answers


def main() -> None:
    with Firefox() as firefox:
        answers = [firefox.run(script(source)) for source in CASES]
    RECORDING.write_text("[\n" + ",\n".join(f" {json.dumps(answer)}" for answer in answers) + "\n]\n", "ascii")


if __name__ == "__main__":
    main()
