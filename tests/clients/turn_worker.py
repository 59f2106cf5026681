"""One of several processes that take turns with one profile: `python -m tests.clients.turn_worker kind profile url`.

For each line, the name of an identity, it makes a request and prints the status and the body.
"""

from __future__ import annotations

import sys

from tests.clients.faces import Face, wardrobe


def main(kind: str, address: str, url: str) -> None:
    clothes = wardrobe(address, kind)
    faces: dict[str, Face] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in faces:
            faces[name] = clothes.wear(name)
        answer = faces[name].get(url, headers={"X-Identity": name})
        sys.stdout.write(f"{answer.status} {answer.text}\n")
        sys.stdout.flush()
    clothes.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
