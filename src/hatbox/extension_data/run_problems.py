"""What is wrong with a running extension, or why its last run has ended unexpectedly. Transaction functions."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from hatbox.extension_data.ui_changes import record_ui_change
from hatbox.store.base import Transaction

__all__ = ["KILLED", "KIND", "RunProblem", "clear_problem_of_run", "read_problem", "store_problem"]

KIND: Final = "runProblem"
"""The kind of the records. They are deleted at the next start."""


class RunProblem(msgspec.Struct, frozen=True):
    """A problem that the user has to know of."""

    what: Literal["failed", "restarting", "ended"]
    """A background script has failed; the background has crashed and is being restarted; the run has ended."""
    reason: str = ""
    """The error, or how the background has ended. Empty if that is not known."""


KILLED: Final = RunProblem("ended")
"""The process was killed, so nothing could record why."""


def read_problem(transaction: Transaction, area: str) -> RunProblem | None:
    """The stored problem of an extension."""
    value = transaction.extensions.get(area, KIND, "")
    return None if value is None else _decode(value)


def store_problem(transaction: Transaction, area: str, problem: RunProblem | None) -> None:
    """Store the problem of an extension; None deletes it."""
    if problem == read_problem(transaction, area):
        return
    if problem is None:
        transaction.extensions.delete(area, KIND, "")
    else:
        transaction.extensions.put(area, KIND, "", msgspec.json.encode(problem))
    record_ui_change(transaction, area)


def clear_problem_of_run(transaction: Transaction, area: str, *, is_installed: bool) -> None:
    """Delete what was wrong with a run that has ended. Why it has ended stays, if the extension is still listed."""
    problem = read_problem(transaction, area)
    if problem is not None and not (is_installed and problem.what == "ended"):
        transaction.extensions.delete(area, KIND, "")


_decode = msgspec.json.Decoder(RunProblem).decode
