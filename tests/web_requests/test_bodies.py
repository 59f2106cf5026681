from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.web_requests import RequestBody
from hatbox.web_requests.bodies import parse_request_body

FORM = "application/x-www-form-urlencoded"
PARTS = (
    b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xc3\xbc \r\n2\r\n'
    b'--x\r\nContent-Disposition: form-data; name="f"; filename="b.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n'
    b"--x--\r\n"
)


@pytest.mark.parametrize(
    ("content_type", "parts", "body"),
    [
        (FORM, [b"a=1&a=2&b="], RequestBody({"a": ["1", "2"], "b": [""]})),
        (f"{FORM.upper()}; charset=utf-8", [b"a=%C3%BC+", b"x"], RequestBody({"a": ["ü x"]})),
        (FORM, [b""], RequestBody({})),
        (FORM, [b"\xff=%zz"], RequestBody({"\ufffd": ["%zz"]})),
        ("multipart/form-data; boundary=x", [PARTS], RequestBody({"a": ["1", "ü \r\n2"], "f": ["b.txt"]})),
        ("multipart/form-data; boundary=x", [b"no parts"], RequestBody({})),
        ("multipart/form-data", [PARTS], RequestBody(raw=(PARTS,))),
        ("application/json", [b"{", b"}"], RequestBody(raw=(b"{", b"}"))),
        ("", [b"\x00\xff"], RequestBody(raw=(b"\x00\xff",))),
    ],
)
def test_forms_are_read_and_all_else_is_bytes(content_type: str, parts: list[bytes], body: RequestBody) -> None:
    assert parse_request_body(content_type, parts) == body


@given(st.sampled_from([FORM, "multipart/form-data; boundary=x", "text/plain"]), st.binary())
def test_no_body_is_an_error(content_type: str, body: bytes) -> None:
    parse_request_body(content_type, [body])


@given(st.binary())
def test_no_part_of_a_form_is_an_error(body: bytes) -> None:
    parse_request_body(
        "multipart/form-data; boundary=x", [b"--x\r\nContent-Disposition: form-data; " + body + b"\r\n--x--"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [
        b'Content-Disposition: form-data; name="' + b";" * 2_000_000,
        b"Content-Disposition: form-data" + b'; a="' * 300_000,
        b'Content-Disposition: form-data; name="a"; ' + b" " * 2_000_000,
        b"Content-Disposition: form-data" + b"; a=1" * 300_000 + b'; name="a',
        b"Content-Type: multipart/mixed; boundary=y\r\n\r\n" + b"--y\r\nContent-Type: multipart/mixed\r\n\r\n" * 20_000,
    ],
)
def test_no_form_freezes_the_host(head: bytes) -> None:
    parse_request_body("multipart/form-data; boundary=x", [b"--x\r\n" + head + b"\r\n\r\n1\r\n--x--\r\n"])
    parse_request_body("multipart/form-data" + "; a=" * 300_000, [head])


def test_names_in_a_form_may_be_quoted_or_bare_and_have_escapes() -> None:
    body = (
        b'--x y\r\ncontent-disposition:form-data;filename=b;name="q\\"; r"\r\n\r\n1\r\n'
        b"--x y\r\nContent-Disposition: form-data; name=c\r\nContent-Transfer-Encoding: base64\r\n\r\nQQ==\r\n--x y--"
    )
    assert parse_request_body('multipart/form-data; charset=utf-8; boundary="x y"', [body]) == RequestBody(
        {'q"; r': ["b"], "c": ["QQ=="]}
    )
