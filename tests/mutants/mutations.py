"""Finds the places where a mutation is possible, and applies one. Knows nothing of tests."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["PARTS", "Mutant", "Place", "choose", "find", "mutants_in"]

SOURCE: Final = Path("src/hatbox")
PARTS: Final = (
    "store",
    "identities",
    "cookies",
    "tabs",
    "grants",
    "archive",
    "mcp",
    "engines/chromium/endpoint",
    "extensions",
)
"""The packages that are mutated, each as often as the others."""

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_COMMITS: Final = frozenset({"write", "commit", "flush", "save"})
_LOGS: Final = ("_log", "log", "logging")  # calls of a logger, which no test requires


@dataclass(frozen=True)
class Mutant:
    """One change of one place. It is found again in a later version by everything but the line."""

    path: str
    function: str
    """Its names from outside inward; empty for a module."""
    kind: str
    original: str
    mutated: str
    number: int
    """Among the places of the function with the same text."""


@dataclass(frozen=True)
class Place:
    """Where a mutant is in a version of the source."""

    mutant: Mutant
    start: int
    end: int
    first_line: int
    last_line: int

    def applied(self, source: bytes) -> bytes:
        """The source with the mutation."""
        return source[: self.start] + self.mutant.mutated.encode() + source[self.end :]


def mutants_in(root: Path, path: str) -> list[Place]:
    """All places of a file."""
    source = (root / path).read_bytes()
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return finder.found


def choose(root: Path, count: int, seed: int) -> list[Mutant]:
    """Mutants of all parts, and of all kinds, by chance."""
    generator = random.Random(seed)
    chosen: list[Mutant] = []
    pools: list[dict[str, list[Mutant]]] = []
    for part in PARTS:
        pool: dict[str, list[Mutant]] = {}
        for path in sorted((root / SOURCE / part).rglob("*.py")):
            for place in mutants_in(root, str(path.relative_to(root))):
                pool.setdefault(place.mutant.kind, []).append(place.mutant)
        for same_kind in pool.values():
            generator.shuffle(same_kind)
        pools.append(pool)
    while len(chosen) < count and any(any(pool.values()) for pool in pools):
        kind = generator.choice(("comparison", "call", "constant", "await"))
        for pool in pools:
            if pool.get(kind) and len(chosen) < count:
                chosen.append(pool[kind].pop())
    return chosen


def find(root: Path, mutant: Mutant) -> Place | None:
    """Where a mutant is in this version, also if its file has moved. None if its code is gone."""
    same = root / mutant.path
    others = sorted((root / SOURCE).rglob("*.py"))
    for path in [same] * same.exists() + [other for other in others if other.name == same.name] + others:
        for place in mutants_in(root, str(path.relative_to(root))):
            there = place.mutant
            if _without_path(there) == _without_path(mutant):
                return place
    return None


def _without_path(mutant: Mutant) -> tuple[object, ...]:
    return mutant.function, mutant.kind, mutant.original, mutant.number


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes) -> None:
        self.found: list[Place] = []
        self._path = path
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._function: list[str] = []
        self._seen: Counter[tuple[str, str, str]] = Counter()

    # ---------------------------------------------------------------------------------------------- what is mutated

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            between = self._end(node.left), self._start(node.comparators[0])
            before, after = _COMPARISONS[type(node.ops[0])]
            text = self._source[slice(*between)].decode()
            if text.count(before) == 1:
                whole = self._text(node)
                self._add(node, "comparison", whole, whole.replace(text, text.replace(before, after), 1))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and not ast.unparse(call.func).startswith(_LOGS):
            self._add(node, "call", self._text(node), "pass")
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        mutated: object
        if isinstance(value, bool):
            mutated = not value
        elif isinstance(value, int):
            mutated = value + 1
        elif isinstance(value, float):
            mutated = value * 2
        elif isinstance(value, str):
            mutated = value + "x"
        elif isinstance(value, bytes):
            mutated = value + b"x"
        else:
            return
        self._add(node, "constant", self._text(node), repr(mutated))

    def visit_Await(self, node: ast.Await) -> None:
        function = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr in _COMMITS:
            self._add(node, "await", self._text(node), self._text(node.value))
        self.generic_visit(node)

    # ------------------------------------------------------------------------------------------------- what is not

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python 3.11 does not know the places in it."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Its words."""

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if ast.unparse(node.targets[0]) != "__all__":
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Its annotation."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node.name, [node.args, *node.body])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node.name, [node.args, *node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node.name, node.body)

    # --------------------------------------------------------------------------------------------------------------

    def _enter(self, name: str, parts: Sequence[ast.AST]) -> None:
        self._function.append(name)
        for part in parts:
            self.visit(part)
        self._function.pop()

    def _add(self, node: ast.expr | ast.stmt, kind: str, original: str, mutated: str) -> None:
        function = ".".join(self._function)
        number = self._seen[function, kind, original]
        self._seen[function, kind, original] += 1
        mutant = Mutant(self._path, function, kind, original, mutated, number)
        last = node.end_lineno or node.lineno
        self.found.append(Place(mutant, self._start(node), self._end(node), node.lineno, last))

    def _text(self, node: ast.expr | ast.stmt) -> str:
        return self._source[self._start(node) : self._end(node)].decode()

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset
