from __future__ import annotations

from typing import Any

from hatbox.web_requests import RequestEvents


def listener(_: Any) -> None:
    pass


def other(_: Any) -> None:
    pass


def filtered(*types: str) -> list[Any]:
    return [{"urls": ["<all_urls>"], "types": list(types) or None}]


def test_whoever_begins_or_ends_to_listen_is_told_of() -> None:
    requests = RequestEvents()
    told: list[bool] = []
    requests.on_listeners_changed.add_listener(lambda _: told.append(requests.has_listeners))
    requests.on_completed.add_listener(listener)
    requests.on_before_request.add_listener(other)
    requests.on_completed.remove_listener(listener)
    requests.on_before_request.remove_listener(other)
    assert told == [True, True, True, False]


def test_who_only_chooses_proxies_does_not_listen() -> None:
    requests = RequestEvents()
    requests.on_proxy_request.add_listener(listener)
    assert not requests.has_listeners


def test_all_types_are_heard_if_one_wants_all() -> None:
    requests = RequestEvents()
    assert requests.listened_types == set()
    requests.on_before_request.add_listener(listener, filtered("main_frame"))
    requests.on_completed.add_listener(listener, filtered("image"))
    assert requests.listened_types == {"main_frame", "image"}
    requests.on_completed.add_listener(other, filtered())
    assert requests.listened_types is None
    requests.on_completed.remove_listener(other)
    requests.on_error_occurred.add_listener(other)  # one that has no wishes
    assert requests.listened_types is None


def test_answers_are_heard_only_by_who_wants_to_know_of_them() -> None:
    requests = RequestEvents()
    requests.on_before_send_headers.add_listener(listener)
    assert not requests.has_response_listeners
    requests.on_headers_received.add_listener(listener)
    assert requests.has_response_listeners
