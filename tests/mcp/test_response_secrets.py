"""Values of cookies and password fields in responses."""

from __future__ import annotations

import pytest

from hatbox.mcp.response_secrets import HIDDEN_COOKIE, CookieValues, has_password_field, without_password_inputs


def test_values_of_cookies_are_hidden() -> None:
    cookies = CookieValues()
    cookies.add_sent('a=first-value; b=1; c="quoted value"')
    cookies.add_received(["d=x%2Fy%2Fz-value; Path=/", "e", "", "name-less; Path=/"])
    forms = ["first-value", "quoted value", "quoted%20value", "quoted+value", "x/y/z-value", "x%2fy%2fz-value"]
    for each in (*forms, "x\\/y\\/z-value", "x\\u002Fy\\u002fz-v\\u0061lue", "x&#x2F;y&#47;z-value", "name-less"):
        assert cookies.hide(f"<{each}>") == f"<{HIDDEN_COOKIE}>"
    assert cookies.hide("a 1 b") == "a 1 b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<input type=password value=my-secret> my-secret", '<input type=password value="(hidden)"> (hidden)'),
        ("<INPUT VALUE='a>&lt;b' name=Passwd> a><b", '<INPUT VALUE="(hidden)" name=Passwd> (hidden)'),
        ('<input type="pass&#119;ord" value=s/>', '<input type="pass&#119;ord" value="(hidden)">'),
        ('<input type="&#000000000112;assword" value=s>', '<input type="&#000000000112;assword" value="(hidden)">'),
        ('<input type=password value="not closed', '<input type=password value="(hidden)"'),
        ('"<input type=\\"password\\" value=\\"json\\">"', '"<input type=\\"password\\" value="(hidden)">"'),
        ("<input name=q value=query>", "<input name=q value=query>"),
        ("<inputs type=password value=x>", "<inputs type=password value=x>"),
    ],
)
def test_values_of_password_fields_are_hidden(text: str, shown: str) -> None:
    assert without_password_inputs(text) == shown


@pytest.mark.parametrize(
    ("text", "is_field"),
    [
        ("<p><input name=p type='password'>", True),
        ('<INPUT data-a=">" Type = "Password" >', True),
        ('"<input type=\\"password\\">"', True),
        ("<input type=text title=password>", False),
        ("<inputs type=password>", False),
        ("type=password", False),
    ],
)
def test_password_fields_are_found(text: str, is_field: bool) -> None:
    assert has_password_field(text) == is_field


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<meta content='a=1' http-equiv=Set-Cookie>b", f"{HIDDEN_COOKIE}b"),
        ('<META HTTP-EQUIV="set-cookie" content="a=>1">b', f"{HIDDEN_COOKIE}b"),
        ("<meta name=set-cookie>b", "<meta name=set-cookie>b"),
    ],
)
def test_cookies_in_pages_are_hidden(text: str, shown: str) -> None:
    assert CookieValues().hide(text) == shown


def test_a_very_long_number_in_a_field_is_no_error() -> None:
    assert without_password_inputs(f"<input type='&#{'1' * 10_000};'>").startswith("<input")


@pytest.mark.parametrize(
    "text",
    [
        *("<input ", '<input "', "<input ='", "<input =", "<input type=password value=1>", "<input>"),
        *("<input a", "<input a ", "<input type ", "<meta ", "<meta>", "<meta a", "<meta http-equiv "),
    ],
)
def test_the_time_grows_with_the_length_of_a_response(text: str) -> None:
    """Quadratic time took minutes here."""
    repeated = text[-1] if text[-1] in "a " else text
    hostile = text + repeated * (300_000 // len(repeated)) + ">"
    without_password_inputs(hostile)
    has_password_field(hostile)
    CookieValues().hide(hostile)


def test_the_time_of_a_sign_in_probe_grows_with_the_length_of_a_page() -> None:
    assert not has_password_field("<input " * 3_000_000)
