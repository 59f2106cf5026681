from __future__ import annotations

import json
from pathlib import Path

import pytest

from hatbox.errors import ImportExportError, InvalidInputFile
from hatbox.formats.base import IdentityAttributes
from hatbox.formats.brave_containers import NOT_LISTED
from hatbox.formats.chromium_folders import default_user_data, find_user_data, profiles_in
from hatbox.formats.folder_formats import FOLDER_FORMATS, RECENT, SITE_DATA, read_folder
from tests.formats.chromium_files import make_profile


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", ".config/chromium"),
        ("linux", ".config/google-chrome"),
        ("linux", ".config/BraveSoftware/Brave-Browser"),
        ("linux", "snap/chromium/common/chromium"),
        ("linux", ".var/app/org.chromium.Chromium/config/chromium"),
        ("linux", ".var/app/com.google.Chrome/config/google-chrome"),
        ("darwin", "Library/Application Support/Chromium"),
        ("darwin", "Library/Application Support/Google/Chrome"),
        ("win32", "AppData/Local/Chromium/User Data"),
        ("win32", "AppData/Local/Google/Chrome/User Data"),
        ("win32", "AppData/Local/Microsoft/Edge/User Data"),
    ],
)
@pytest.mark.parametrize("network", [True, False])
def test_the_folders_of_browsers_are_found(tmp_path: Path, platform: str, place: str, network: bool) -> None:
    make_profile(tmp_path / place / "Default", network=network)
    found = find_user_data(tmp_path, platform, {})
    assert found == [tmp_path / place]
    assert default_user_data(found) == found[0]
    for other in {"linux", "darwin", "win32"} - {platform}:
        assert find_user_data(tmp_path, other, {}) == []


def test_environment_variables_name_other_places(tmp_path: Path) -> None:
    make_profile(tmp_path / "config" / "chromium" / "Default")
    assert find_user_data(tmp_path / "home", "linux", {"XDG_CONFIG_HOME": str(tmp_path / "config")})
    make_profile(tmp_path / "local" / "Chromium" / "User Data" / "Default")
    assert find_user_data(tmp_path / "home", "win32", {"LOCALAPPDATA": str(tmp_path / "local")})


def test_none_and_several_are_errors_that_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ImportExportError, match=r"no Chromium profile found.*chrome://version"):
        default_user_data([])
    with pytest.raises(ImportExportError, match=r"found 2 folders.*one; .*two\. Specify one"):
        default_user_data([tmp_path / "one", tmp_path / "two"])
    with pytest.raises(InvalidInputFile, match="not a folder of Chromium"):
        read_folder(tmp_path)
    with pytest.raises(InvalidInputFile, match="not a folder of Chromium"):
        read_folder(tmp_path / "nowhere")


def test_each_profile_is_an_identity_with_the_name_that_chromium_shows(tmp_path: Path) -> None:
    for folder in ("Profile 10", "Profile 2", "Default", "System Profile", "Guest Profile"):
        make_profile(tmp_path / folder, value=folder)
    (tmp_path / "Empty").mkdir()
    names = {"Default": {"name": "Your Chromium"}, "Profile 2": {"name": "Work \u2603"}, "Profile 10": {"name": 5}}
    (tmp_path / "Local State").write_text(json.dumps({"profile": {"info_cache": names}}))
    (tmp_path / "Profile 10" / "Preferences").write_text(json.dumps({"profile": {"name": "Old"}}))
    bundle = read_folder(tmp_path)
    labels = [each.label and each.label.name for each in bundle.entries]
    assert labels == ["Your Chromium", "Work \u2603", "Old"]
    assert [each.cookies[0].value for each in bundle.entries] == ["Default", "Profile 2", "Profile 10"]
    assert bundle.dropped == {RECENT: 0, SITE_DATA: 0}
    (single,) = FOLDER_FORMATS["chromium"].read(tmp_path / "Profile 2").entries
    assert single == bundle.entries[1]


@pytest.mark.parametrize("state", ["", "nonsense", "[]", '{"profile": []}', "{}", '{"profile": {"info_cache": 1}}'])
def test_a_broken_local_state_costs_only_the_name(tmp_path: Path, state: str) -> None:
    make_profile(tmp_path / "Profile 1")
    (tmp_path / "Local State").write_text(state)
    (found,) = profiles_in(tmp_path)
    assert found.name == "Profile 1"


def test_a_blank_name_is_replaced_by_the_folders(tmp_path: Path) -> None:
    make_profile(tmp_path / "Default")
    (tmp_path / "Local State").write_text(json.dumps({"profile": {"info_cache": {"Default": {"name": "  "}}}}))
    (entry,) = read_folder(tmp_path).entries
    assert entry.label is not None
    assert entry.label.name == "Default"


def test_one_damaged_profile_stops_the_import_of_all(tmp_path: Path) -> None:
    make_profile(tmp_path / "Default")
    (tmp_path / "Profile 1").mkdir()
    (tmp_path / "Profile 1" / "Cookies").write_bytes(b"garbage" * 1000)
    with pytest.raises(InvalidInputFile, match="Profile 1"):
        read_folder(tmp_path)


def brave_profile(folder: Path, containers: object) -> dict[str, Path]:
    """A profile as Brave writes it, and the folders of its containers by their ids."""
    make_profile(folder, value="outside")
    (folder / "Preferences").write_text(json.dumps({"brave": {"containers": containers}}))
    # The first six bytes of the SHA-256 of the id, as Chromium names the folders of storage partitions.
    names = {"work": "00E13ED7AF55", "personal": "4A0A339B0C6D", "t-1": "0123456789AB", "deleted": "CAFECAFECAFE"}
    return {each: folder / "Storage/ext/containers-default" / name for each, name in names.items()}


def container(container_id: str, name: str, icon: int, color: int) -> dict[str, object]:
    return {"id": container_id, "name": name, "icon": icon, "background_color": color - 2**32}


def test_the_containers_of_brave_are_identities_with_their_own_cookies(tmp_path: Path) -> None:
    own = [{"id": "broken"}, container("work", "Work", 1, 0xFFDB3A33), container("mine", "Trips", 7, 0xFF108050)]
    used = {"deleted": container("deleted", "Old", 3, 0xFFE60083)}
    places = brave_profile(tmp_path / "Default", {"enabled": True, "list": own, "used": used})
    make_profile(places["work"], network=False, value="inside")
    make_profile(places["deleted"], value="gone")
    bundle = read_folder(tmp_path)
    found = [(each.label, [cookie.value for cookie in each.cookies]) for each in bundle.entries]
    assert found == [
        (IdentityAttributes("Default", "circle", "blue"), ["outside"]),
        (IdentityAttributes("Work", "briefcase", "red"), ["inside"]),
        (IdentityAttributes("Trips", "vacation", "green"), []),
    ]
    assert bundle.skipped == {NOT_LISTED: 1}
    assert len({each.source for each in bundle.entries}) == 3
    (places["deleted"] / "Network" / "Cookies").unlink()
    assert read_folder(tmp_path).skipped == {}


def test_the_first_containers_of_brave_are_those_that_were_used_until_the_user_changes_the_list(tmp_path: Path) -> None:
    used = [container("personal", "Pers\u00f6nlich", 0, 0xFF0072F0), container("t-1", "Alpha beta", 6, 0xFF8360DC)]
    places = brave_profile(tmp_path, {"used": {str(each["id"]): each for each in used}})
    make_profile(places["personal"], value="inside")
    make_profile(places["t-1"], value="gone")
    bundle = read_folder(tmp_path)
    assert [each.label for each in bundle.entries[1:]] == [IdentityAttributes("Pers\u00f6nlich", "fingerprint", "blue")]
    assert [cookie.value for each in bundle.entries[1:] for cookie in each.cookies] == ["inside"]
    assert bundle.skipped == {NOT_LISTED: 1}


@pytest.mark.parametrize("containers", [5, [], {"list": 5}, {"list": [{}, 5]}, {"used": {"a": {}}}])
def test_broken_containers_of_brave_cost_nothing_else(tmp_path: Path, containers: object) -> None:
    make_profile(brave_profile(tmp_path, containers)["work"])
    bundle = read_folder(tmp_path)
    assert (len(bundle.entries), bundle.skipped) == (1, {NOT_LISTED: 1})
