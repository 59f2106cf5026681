"""`hatbox open` with links that a running extension handles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands.run.test_extension_runner import extension_in, lines_until, running
from tests.cli.conftest import Cli

HANDLERS = [
    {"protocol": "ext+container", "name": "Containers", "uriTemplate": "/open.html#%s"},
    {"protocol": "ext+hat", "name": "Hats", "uriTemplate": "/hat.html#%s"},
]


@pytest.mark.process
def test_the_page_of_a_running_extension_opens_a_link(cli: Cli, tmp_path: Path) -> None:
    made = extension_in(tmp_path / "opener", "", permissions=["tabs"], protocol_handlers=HANDLERS)
    for name in ("open.html", "hat.html"):
        (made / name).write_text(f"<title>{name}</title>", "utf-8")
    with running(str(made)) as process:
        lines_until(process, "is running")
        (tab,) = cli("open", "ext+container:url=https%3A%2F%2Fsite.example", "--json").json
        assert tab["url"].startswith("moz-extension://")
        assert tab["url"].endswith("/open.html#ext%2Bcontainer%3Aurl%3Dhttps%253A%252F%252Fsite.example")
        assert tab["cookieStoreId"] == "firefox-default"
        (tab,) = cli("open", "Work", "ext+hat:x", "--json").json
        assert (tab["url"].rpartition("/")[2], tab["identity"]) == ("hat.html#ext%2Bhat%3Ax", "Work")


def test_a_link_that_no_extension_opens_is_an_error_and_opens_nothing(cli: Cli) -> None:
    cli("list")  # creates the profile
    result = cli("open", "Work", "ext+hat:x")
    assert result.status == 2
    assert "no running extension opens ext+hat links" in result.err
    assert cli("tabs", "--json").json == []
