"""Which cookies look like a sign-in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies.sign_in_cookies import is_sign_in_cookie, looks_like_sign_in

SIGN_IN = [
    "PHPSESSID",
    "JSESSIONID",
    "ASP.NET_SessionId",
    "connect.sid",
    "sid",
    "SID",
    "HSID",
    "SSID",
    "SAPISID",
    "session",
    "user_session",
    "_gh_sess",
    "__Host-session",
    "sessionid",
    "session_id",
    "laravel_session",
    "ci_session",
    "auth",
    "auth_token",
    "authToken",
    "access_token",
    "refresh_token",
    "id_token",
    "jwt",
    "li_at_token",
    "sso_session",
    "logged_in",
    "loggedIn",
    "signed_in",
    "remember_me",
    "remember_user_token",
    "user_id",
    "userid",
    "account",
    "account_id",
    "wordpress_logged_in_0123",
    "__Secure-next-auth.session-token",
    "reddit_session",
    "twid_auth",
    ".AspNetCore.Cookies.auth",
]

OF_VISITORS = [
    "csrftoken",
    "XSRF-TOKEN",
    "_csrf",
    "csrf_token",
    "crumb_csrf",
    "__RequestVerificationToken",
    ".AspNetCore.Antiforgery.x_session",
    "cookie_consent",
    "CookieConsent",
    "OptanonConsent",
    "euconsent-v2",
    "gdpr_token",
    "lang",
    "language",
    "locale",
    "NEXT_LOCALE",
    "django_language",
    "i18n_redirected",
    "country",
    "currency",
    "timezone",
    "tz",
    "theme",
    "_ga",
    "_gid",
    "_gat",
    "_gcl_au",
    "__utma",
    "_fbp",
    "_hjSessionUser_1",
    "_hjSession_1",
    "_pk_id.1",
    "amplitude_id",
    "mp_token_mixpanel",
    "ajs_anonymous_id",
    "optimizelyEndUserId",
    "__hssc",
    "NID",
    "IDE",
    "1P_JAR",
    "MUID",
    "anonymous_session",
    "guest_token",
    "visitor_id",
    "device_id",
    "__cf_bm",
    "cf_clearance",
    "_cfuvid",
    "AWSALB",
    "AWSALBCORS",
    "BIGipServerpool",
    "ARRAffinity",
    "incap_ses_1",
    "visid_incap_2",
    "datadome",
    "_abck",
    "bm_sz",
    "ak_bmsc",
    "SERVERID",
    "route",
    "ab_test",
    "experiment_session",
]

NEITHER = [
    "cart",
    "items",
    "prefs",
    "sidebar_open",
    "author",
    "seen_banner",
    "wishlist",
    "color",
    "size",
    "basket",
    "page",
    "considered",
    "inside",
]


@pytest.mark.parametrize("name", SIGN_IN)
def test_names_of_sessions_and_tokens_look_like_a_sign_in(name: str) -> None:
    assert looks_like_sign_in(name, False)
    assert looks_like_sign_in(name, True)


@pytest.mark.parametrize("name", OF_VISITORS)
def test_names_that_every_visitor_gets_do_not_even_if_http_only(name: str) -> None:
    assert not looks_like_sign_in(name, False)
    assert not looks_like_sign_in(name, True)


@pytest.mark.parametrize("name", NEITHER)
def test_other_names_do_only_if_http_only(name: str) -> None:
    assert not looks_like_sign_in(name, False)
    assert looks_like_sign_in(name, True)


def test_an_expired_cookie_is_no_sign_in() -> None:
    assert is_sign_in_cookie("sid", http_only=True, expires=None, now=100)
    assert is_sign_in_cookie("sid", http_only=True, expires=101, now=100)
    assert not is_sign_in_cookie("sid", http_only=True, expires=100, now=100)


@given(st.text(max_size=5000), st.booleans())
def test_any_name_has_an_answer(name: str, http_only: bool) -> None:
    assert looks_like_sign_in(name, http_only) in (True, False)


def test_a_hostile_name_takes_no_time() -> None:
    for unit in ("a", "-", "sess", "guest-", "a_", "session.", "cookie-"):
        looks_like_sign_in(unit * 100_000, False)
        looks_like_sign_in((unit * 256)[:256], False)
