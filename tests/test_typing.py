"""A user's own code passes mypy --strict against the installed package, and mistakes in it are found."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

GOOD = """
    import asyncio

    import hatbox


    async def main() -> str:
        async with hatbox.open("profile.db") as profile:
            browser = profile.browser(permissions=["contextualidentities"])
            work = await browser.contextualIdentities.create({"name": "Work", "color": "orange", "icon": "briefcase"})
            found = await browser.contextualIdentities.query({"name": "Work"})
            await browser.contextualIdentities.hide(work["cookieStoreId"])
            await browser.contextualIdentities.get(cookiestoreid=found[0]["cookieStoreId"])
            browser.contextualIdentities.onCreated.addListener(lambda info: print(info["contextualIdentity"]["name"]))
            travel = await profile.identities.create("Travel", color="blue", icon="vacation")
            profile.identities.on_removed.add_listener(lambda identity: print(identity.name))
            return travel.cookie_store_id


    def sync() -> list[str]:
        with hatbox.open_sync("profile.db") as profile:
            return [identity.name for identity in profile.identities.query()]


    asyncio.run(main())
"""

BAD = """
    import hatbox


    async def main(profile: hatbox.Profile) -> None:
        await profile.identities.create("Travel", color=1, icon="vacation")
        await profile.browser([]).contextualIdentities.create({"name": "Travel"})
        (await profile.identities.get("firefox-container-1")).nmae
        profile.identities.query()[0]
"""


def mypy(tmp_path: Path, source: str) -> str:
    (tmp_path / "user.py").write_text(textwrap.dedent(source), "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path), "user.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False).stdout


def test_a_users_program_passes_mypy_strict(tmp_path: Path) -> None:
    assert mypy(tmp_path, GOOD) == ""


def test_a_users_mistakes_are_found(tmp_path: Path) -> None:
    found = mypy(tmp_path, BAD).splitlines()
    assert [line.split(":")[1] for line in found if "error" in line] == ["6", "7", "8", "9"], found
