"""Uploads from one folder and downloads to another one, and no other file of the user."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from hatbox.engines.chromium.endpoint.client_files import ClientFiles
from hatbox.engines.chromium.endpoint.download_reports import ended_download, started_download
from hatbox.engines.endpoint_options import EndpointOptions
from tests.engines.chromium.endpoint.filtered_client import FilteredClient, with_page

ALLOW = "Browser.setDownloadBehavior"


def drag(*files: object) -> dict[str, Any]:
    return {"type": "drop", "x": 1, "y": 1, "data": {"items": [], "files": [*files], "dragOperationsMask": 1}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text("secret")
    made = tmp_path / "files"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "a.txt").write_text("a")
    (made / "link.txt").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(made / "pipe")
    return made


def test_without_a_folder_an_upload_is_refused_at_once_with_the_option_to_use() -> None:
    client = with_page()
    for method, params in (
        ("DOM.setFileInputFiles", {"files": ["/etc/passwd"], "nodeId": 1}),
        ("Input.dispatchDragEvent", drag("/etc/passwd")),
    ):
        assert "hatbox endpoint with --uploads FOLDER" in client.refused(method, params, "S")
    client.forwarded("DOM.setFileInputFiles", {"files": [], "nodeId": 1}, "S")  # chooses none


def test_only_files_below_the_folder_are_uploaded(folder: Path) -> None:
    client = with_page(ClientFiles(EndpointOptions(uploads=str(folder))))
    file = str(folder / "sub" / "a.txt")
    for path in (file, "sub/a.txt", f"{folder}/sub/../sub/a.txt"):
        sent = client.forwarded("DOM.setFileInputFiles", {"files": [path], "nodeId": 1}, "S")
        assert sent == {"files": [file], "nodeId": 1}
        assert client.forwarded("Input.dispatchDragEvent", drag(path), "S")["data"]["files"] == [file]
    outside = [
        "../outside.txt",
        "link.txt",
        "pipe",
        "sub",
        "",
        "no.txt",
        "/etc/passwd",
        f"{folder}-x",
        "a\0b",
        "file:///etc",
    ]
    for path in outside:
        for files in ([path], [file, path]):
            refused = client.refused("DOM.setFileInputFiles", {"files": files, "nodeId": 1}, "S")
            assert "Not a file below the folder" in refused
            assert "Not a file below the folder" in client.refused("Input.dispatchDragEvent", drag(*files), "S")
    for wrong in (file, None, {"0": file}, [1], [[file]]):
        client.refused("DOM.setFileInputFiles", {"files": wrong, "nodeId": 1}, "S")
    text = json.dumps({"id": 1, "method": "DOM.setFileInputFiles", "sessionId": "S"})[:-1]
    client.perform(
        client.filter.from_client(f'{text},"params":{{"nodeId":1,"files":["/etc/passwd"],"files":["{file}"]}}}}')
    )
    assert [each["params"]["files"] for each in client.to_browser] == [[file]]  # what was checked, and nothing else


def test_the_input_of_an_upload_must_be_one_of_the_page(folder: Path) -> None:
    client = with_page(ClientFiles(EndpointOptions(uploads=str(folder))))
    client.send("DOM.setFileInputFiles", {"files": ["sub/a.txt"], "backendNodeId": 7}, "S")
    assert client.methods() == [("DOM.resolveNode", "S")]
    client.refused("DOM.setFileInputFiles", {"files": ["sub/a.txt"], "objectId": "-1.2.3"}, "S")


@pytest.mark.parametrize("method", [ALLOW, "Page.setDownloadBehavior"])
def test_a_place_for_downloads_is_refused_at_once_unless_it_is_below_the_folder(folder: Path, method: str) -> None:
    session = "" if method == ALLOW else "S"
    allow = {"behavior": "allow", "downloadPath": str(folder.parent)}
    assert "hatbox endpoint with --downloads FOLDER" in with_page().refused(method, allow, session)
    files = ClientFiles(EndpointOptions(downloads=str(folder)))
    client = with_page(files)
    for path in (str(folder.parent), "..", "/etc", f"{folder}-x"):
        assert "Not below the folder" in client.refused(method, allow | {"downloadPath": path}, session)
    client.answered(method, {"behavior": "default"}, session)
    assert files.download_name("a.txt", "guid") == PurePosixPath("a.txt")
    client.answered(method, allow | {"downloadPath": str(folder / "sub")}, session)
    assert files.download_name("a.txt", "guid") == PurePosixPath("sub/a.txt")
    client.answered(method, {"behavior": "allowAndName", "downloadPath": str(folder)}, session)
    assert files.download_name("a.txt", "guid") == PurePosixPath("guid")


def test_a_client_with_events_learns_of_downloads_of_its_identity() -> None:
    """Playwright sends a folder of its own when it connects: an error would end the connection."""
    client = with_page()
    begin = started_download("P", "g", "http://a.test/a", "a.txt")
    client.perform(client.filter.downloaded(begin))
    assert client.outputs == []
    client.answered(ALLOW, {"behavior": "allowAndName", "downloadPath": "/tmp/x", "eventsEnabled": True})
    client.perform(client.filter.downloaded(begin))
    assert client.to_client[0]["params"] == {
        "frameId": "P",
        "guid": "g",
        "url": "http://a.test/a",
        "suggestedFilename": "a.txt",
    }
    client.perform(client.filter.downloaded(ended_download("P", "g", None, 0)))
    assert client.to_client[0]["params"]["state"] == "canceled"
    client.perform(client.filter.downloaded(ended_download("P", "g", Path("/d/a.txt"), 3)))
    assert client.to_client[0]["params"]["filePath"] == "/d/a.txt"
    assert client.filter.is_page("P")
    client.perform(client.filter.withhold("P"))
    assert not client.filter.is_page("P")
    assert not FilteredClient().filter.is_page("Q")


def test_a_copy_goes_only_into_the_folder_that_playwright_has_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    saved = tmp_path / "report.pdf"
    saved.write_bytes(b"pdf")
    artifacts, other = tmp_path / "playwright-artifacts-1", tmp_path / "other"
    for each in (artifacts, other, other / "playwright-artifacts-2"):
        each.mkdir()
    (tmp_path / "playwright-artifacts-3").symlink_to(other)
    for path in (
        artifacts,
        other,
        other / "playwright-artifacts-2",
        tmp_path / "playwright-artifacts-3",
        tmp_path / "x",
    ):
        files = ClientFiles()
        files.set_download_behavior({"behavior": "allowAndName", "downloadPath": str(path), "eventsEnabled": True})
        files.deliver(saved, "guid")
    assert [str(each.relative_to(tmp_path)) for each in tmp_path.rglob("guid")] == ["playwright-artifacts-1/guid"]
    assert (artifacts / "guid").read_bytes() == b"pdf"
