"""What the user allows an agent: the options of `hatbox mcp` and of its configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hatbox.cli.arguments.parameters import Option, bad_parameter

__all__ = [
    "AgentDownloadsOption",
    "AgentHeadedOption",
    "AgentHostsOption",
    "AgentIdentityOption",
    "AgentReadOnlyOption",
    "AgentUploadsOption",
    "existing_folder",
]

AgentIdentityOption = Annotated[
    str, Option("--identity", "-i", metavar="NAME-OR-ID", help="Identity that the agent uses, and no other one.")
]
AgentHostsOption = Annotated[
    list[str] | None,
    Option(
        "--host",
        metavar="PATTERN",
        help="Host that the agent may use: site.example, *.site.example, localhost:8000 or a match pattern. "
        "* is every public host, <all_urls> also those of private networks. Repeatable. Default: *.",
    ),
]
AgentReadOnlyOption = Annotated[
    bool, Option("--read-only", help="The agent can open and read pages, and enter nothing.")
]
AgentHeadedOption = Annotated[bool, Option("--headed", help="Show the browser.")]
AgentUploadsOption = Annotated[
    str | None,
    Option("--uploads", metavar="FOLDER", help="The agent may upload files below this folder. Default: none."),
]
AgentDownloadsOption = Annotated[
    str | None,
    Option("--downloads", metavar="FOLDER", help="Folder for downloads. Default: deleted with the browser."),
]


def existing_folder(path: str | None, option: str) -> Path | None:
    """The absolute path of a folder; None without one."""
    if path is None:
        return None
    if not Path(path).is_dir():
        raise bad_parameter(f"{path} is no folder. Create it first", param_hint=option)
    return Path(path).resolve()
