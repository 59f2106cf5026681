"""Values of cookies and password fields in responses."""

from __future__ import annotations

import time

import pytest

from hatbox.mcp.response_secrets import HIDDEN_COOKIE, CookieValues, without_password_inputs


def test_values_of_cookies_are_hidden() -> None:
    cookies = CookieValues()
    cookies.add_sent('a=first-value; b=1; c="quoted value"')
    cookies.add_received(["d=x%2Fy%2Fz-value; Path=/", "e", ""])
    for each in ("first-value", "quoted value", "quoted%20value", "quoted+value", "x/y/z-value", "x%2fy%2fz-value"):
        assert cookies.hide(f"<{each}>") == f"<{HIDDEN_COOKIE}>"
    assert cookies.hide("a 1 b") == "a 1 b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<input type=password value=my-secret> my-secret", '<input type=password value="(hidden)"> (hidden)'),
        ("<INPUT VALUE='a>&lt;b' name=Passwd> a><b", '<INPUT VALUE="(hidden)" name=Passwd> (hidden)'),
        ('<input type="pass&#119;ord" value=s/>', '<input type="pass&#119;ord" value="(hidden)">'),
        ('<input type=password value="not closed', '<input type=password value="(hidden)"'),
        ('"<input type=\\"password\\" value=\\"json\\">"', '"<input type=\\"password\\" value="(hidden)">"'),
        ("<input name=q value=query>", "<input name=q value=query>"),
        ("<inputs type=password value=x>", "<inputs type=password value=x>"),
    ],
)
def test_values_of_password_fields_are_hidden(text: str, shown: str) -> None:
    assert without_password_inputs(text) == shown


@pytest.mark.parametrize("text", ["<input ", '<input "', "<input ='", "<input =", "<input type=password value=1>"])
def test_the_time_grows_with_the_length_of_a_response(text: str) -> None:
    started = time.process_time()
    without_password_inputs(text * (240_000 // len(text)) + " " * 240_000)
    assert time.process_time() - started < 5
