"""What is wrong with an extension, in sentences that say what to do. Pure."""

from __future__ import annotations

from hatbox.extension_data.run_problems import RunProblem

__all__ = ["problem_sentence"]


def problem_sentence(problem: RunProblem) -> str:
    """A sentence for the card of the extension."""
    if problem.what == "failed":
        return f"Its background script failed: {_ended(problem.reason)} See its log."
    if problem.what == "restarting":
        return f"Its background ended unexpectedly and is being restarted: {_ended(problem.reason)}"
    if problem.reason:
        return f"It ended unexpectedly: {_ended(problem.reason)} Start it again."
    return "It ended unexpectedly: its program was killed, or the machine was turned off. Start it again."


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
