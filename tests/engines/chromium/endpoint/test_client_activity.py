"""What the activity log has to contain of a client: the pages that it sees, controls and loads, and cookies."""

from __future__ import annotations

from tests.engines.chromium.endpoint.filtered_client import OTHER, FilteredClient, info, with_page


def changed(client: FilteredClient, target_id: str, url: str) -> None:
    client.event("Target.targetInfoChanged", {"targetInfo": info(target_id, url=url)})


def test_a_page_of_the_user_is_recorded_when_the_client_can_read_it_and_when_it_acts() -> None:
    client = with_page()
    assert client.recorded == [("endpoint.attach", "http://a.test/")]
    changed(client, "P", "http://a.test/other")  # the same host
    changed(client, "P", "http://b.test/")
    client.event("Target.targetCreated", {"targetInfo": info("Q", context=OTHER, url="http://secret.test/")})
    client.send("Runtime.evaluate", {"expression": "1"}, "S")
    client.send("Runtime.evaluate", {"expression": "1"}, "S")
    changed(client, "P", "http://c.test/")
    assert client.recorded[1:] == [
        ("endpoint.attach", "http://b.test/"),
        ("endpoint.control", "http://b.test/"),
        ("endpoint.load", "http://c.test/"),
    ]


def test_each_navigation_of_the_client_is_recorded_once() -> None:
    client = with_page()
    client.recorded.clear()
    for url in ("http://a.test/1", "http://b.test/2"):
        client.send("Page.navigate", {"url": url}, "S")
        changed(client, "P", url)
    number = client.send("Target.createTarget", {"url": "http://d.test/"})
    client.result(number, {"targetId": "N"})
    client.event("Target.targetCreated", {"targetInfo": info("N", url="http://d.test/")})
    client.attach("N", "T", url="http://d.test/")
    client.send("Page.navigate", {"url": "file:///etc/passwd"}, "S")
    client.send("Page.navigate", {"url": "data:text/html,x"}, "S")
    loads = [url for action, url in client.recorded if action == "endpoint.load"]
    assert loads == ["http://a.test/1", "http://b.test/2", "http://d.test/"]


def test_cookies_are_recorded_without_their_values() -> None:
    client = with_page()
    client.recorded.clear()
    client.send("Storage.getCookies")
    client.send("Network.getCookies", {}, "S")
    client.send("Storage.setCookies", {"cookies": [{"name": "secret", "value": "x", "domain": "a.test"}]})
    client.send("Network.deleteCookies", {"name": "secret"}, "S")
    client.send("Storage.getCookies", {}, "no such session")
    assert client.recorded == [("endpoint.readCookies", "")] * 2 + [("endpoint.changeCookies", "")] * 2
