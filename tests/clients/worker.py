"""One of several processes that use two identities of one profile at once: `python -m tests.clients.worker …`.

It says when it is ready, waits for a line, makes its requests and says when it is done. Then it waits to be killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.clients.faces import wardrobe

IDENTITIES = ("Work", "Personal")


def main(kind: str, path: str, base: str, count: int) -> None:
    clothes = wardrobe(Path(path), kind)
    faces = {name: clothes.wear(name) for name in IDENTITIES}
    _say("ready")
    sys.stdin.readline()
    for number in range(count):
        name = IDENTITIES[number % 2]
        faces[name].get(_url(base, name, number), headers={"X-Identity": name})
    _say("done")
    sys.stdin.readline()
    clothes.close()


def _url(base: str, name: str, number: int) -> str:
    """In turns: a new session by way of a redirect, a plain request, a cookie that comes, and one that goes."""
    match number // 2 % 4:
        case 0:
            return f"{base}/renew?set=sid={name}-{number}&set=hop={name}-{number}&to={base}/me"
        case 1:
            return f"{base}/add?set=n{number % 10}={name}-{number}"
        case 2:
            return f"{base}/drop?set=n{number % 10}={name}-;Max-Age=0"
        case _:
            return f"{base}/me"


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
