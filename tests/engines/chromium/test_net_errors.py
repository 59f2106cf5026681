from __future__ import annotations

import pytest

from hatbox.engines.chromium.net_errors import firefox_error_name, load_error_message


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("net::ERR_NAME_NOT_RESOLVED", "host not found: site.example:8080"),
        ("net::ERR_CONNECTION_REFUSED", "site.example:8080 refused the connection"),
        ("net::ERR_CERT_DATE_INVALID", "invalid certificate of site.example:8080: date invalid"),
        ("net::ERR_SSL_PROTOCOL_ERROR", "no secure connection to site.example:8080: protocol error"),
        ("net::ERR_SOMETHING_NEW", "something new"),
    ],
)
def test_an_error_code_has_a_message_for_users(code: str, message: str) -> None:
    assert load_error_message(code, "https://me@site.example:8080/page") == message


def test_the_message_for_a_url_without_a_host_has_the_url() -> None:
    assert load_error_message("net::ERR_INVALID_URL", "nonsense") == "invalid URL: nonsense"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("net::ERR_NAME_NOT_RESOLVED", "NS_ERROR_UNKNOWN_HOST"),
        ("net::ERR_CONNECTION_REFUSED", "NS_ERROR_CONNECTION_REFUSED"),
        ("net::ERR_ABORTED", "NS_BINDING_ABORTED"),
        ("net::ERR_SOMETHING_NEW", "NS_ERROR_FAILURE"),
        ("net::ERR_CERT_DATE_INVALID", "invalid certificate of a.example: date invalid"),
        ("", "NS_ERROR_FAILURE"),
    ],
)
def test_errors_have_the_names_of_firefox(code: str, name: str) -> None:
    assert firefox_error_name(code, "https://a.example/") == name
