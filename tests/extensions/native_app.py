"""A native application for tests: answers messages on standard output, each after its length in four bytes."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    while head := sys.stdin.buffer.read(4):
        (length,) = struct.unpack("=I", head)
        text = sys.stdin.buffer.read(length)
        answer(json.loads(text) if text else "(nothing)", text)


def answer(message: Any, text: bytes) -> None:
    match message:
        case {"do": "arguments"}:
            send([Path(sys.argv[1]).name, sys.argv[2], len(sys.argv), Path.cwd() == Path(sys.argv[0]).parent])
        case {"do": "exit"}:
            sys.exit(3)
        case {"do": "big", "size": int(size)}:
            send("x" * (size - 2))
        case {"do": "raw", "hex": str(digits)}:
            write(bytes.fromhex(digits))
        case {"do": "garbage"}:
            write(b"\xff\xff\xff\xff garbage")
        case {"do": "many", "count": int(count)}:
            for number in range(count):
                send(number)
        case {"do": "stderr"}:
            sys.stderr.write("a line\nrest")
            sys.stderr.flush()
            send("written")
        case {"do": "length"}:
            send(len(text))
        case {"do": "text"}:
            send(text.decode())
        case {"do": "environment", "name": str(name)}:
            send(os.environ.get(name))
        case {"do": "pid"}:
            send(os.getpid())
        case {"do": "write at the end", "file": str(file)}:
            send("ready")
            sys.stdin.buffer.read()
            Path(file).write_text("ended")
            sys.exit()
        case {"do": "never end"}:
            send(os.getpid())
            while True:
                sys.stdin.buffer.read()
        case _:
            send(message)


def send(value: Any) -> None:
    text = json.dumps(value).encode()
    write(struct.pack("=I", len(text)) + text)


def write(contents: bytes) -> None:
    sys.stdout.buffer.write(contents)
    sys.stdout.buffer.flush()


main()
