"""The engine against the RFC's text, and against itself without its memory."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import Cookie, CookieKey, Jar, JarLimits, RequestContext, SameSite, request_url_from

from . import strategies
from .model import Model, ModelCookie, Request
from .strategies import timeless

UNLIMITED = JarLimits(per_site=10**9, per_store=10**9)
WORDS = {
    SameSite.UNSPECIFIED: "Default",
    SameSite.NONE: "None",
    SameSite.LAX: "Lax",
    SameSite.STRICT: "Strict",
}


class Step(NamedTuple):
    request: Request
    lines: list[str]
    wait: float


requests = st.builds(
    Request,
    scheme=strategies.schemes,
    host=strategies.hosts,
    path=strategies.paths,
    site=st.one_of(st.none(), strategies.sites),
    method=strategies.methods,
    top_level=st.booleans(),
    http=st.booleans(),
)
steps = st.lists(
    st.builds(
        Step,
        requests,
        st.lists(strategies.lines, max_size=3),
        st.sampled_from([0.0, 0.0, 1.0, 5.0, 119.0, 121.0, 400 * 86400.0]),
    ),
    max_size=12,
)


def context_of(request: Request) -> RequestContext:
    return RequestContext(
        site_for_cookies=request.site,
        method=request.method,
        navigation=request.top_level,
        script=not request.http,
    )


def content_of(cookie: Cookie | ModelCookie) -> tuple[object, ...]:
    flags = (cookie.value, cookie.secure, cookie.http_only, cookie.last_access)
    if isinstance(cookie, ModelCookie):
        return (*flags, cookie.same_site, cookie.expiry, cookie.creation_time)
    return (*flags, WORDS[cookie.same_site], cookie.expires, cookie.created)


@timeless
@given(steps, st.lists(requests, min_size=1, max_size=4))
def test_the_jar_does_what_the_text_says(steps: list[Step], last: list[Request]) -> None:
    jar, model = Jar(UNLIMITED, strategies.FEW), Model(strategies.SUFFIXES)
    now = 1000.0
    for request, lines, wait in [*steps, *(Step(request, [], 0.0) for request in last)]:
        now += wait
        target, context = request_url_from(request.scheme, request.host, request.path), context_of(request)
        for line in lines:
            jar.store(line, target, now, context)
            model.receive(line, request, now)
        assert jar.header(target, now, context) == model.retrieve(request, now)
        held = {(*cookie.key[:4], content_of(cookie)) for cookie in jar.all(now)}
        assert held == {
            (cookie.domain, cookie.host_only, cookie.path, cookie.name, content_of(cookie)) for cookie in model.cookies
        }


@timeless
@given(steps, st.lists(st.tuples(requests, st.floats(-10, 500)), max_size=10))
def test_a_remembered_header_is_never_another_one(steps: list[Step], questions: list[tuple[Request, float]]) -> None:
    jar = Jar(UNLIMITED, strategies.FEW)
    now = 1000.0
    for request, lines, wait in steps:
        now += wait
        jar.store_all(lines, request_url_from(request.scheme, request.host, request.path), now, context_of(request))
        for asked, shift in [(request, 0.0), *questions, *questions]:
            target, context = request_url_from(asked.scheme, asked.host, asked.path), context_of(asked)
            afresh = "; ".join(cookie.pair for cookie in jar.select(target, now + shift, context))
            assert jar.header(target, now + shift, context) == afresh


@timeless
@given(steps)
def test_changes_tell_all_that_happened(steps: list[Step]) -> None:
    jar = Jar(JarLimits(per_site=4, per_site_after_eviction=2, per_store=6, per_store_after_eviction=4), strategies.FEW)
    now = 1000.0
    told: dict[CookieKey, Cookie] = {}
    for request, lines, wait in steps:
        now += wait
        target = request_url_from(request.scheme, request.host, request.path)
        for change in jar.expire(now) + jar.store_all(lines, target, now, context_of(request)):
            if change.removed:
                assert told.pop(change.cookie.key) is change.cookie
            else:
                assert change.cookie.key not in told
                told[change.cookie.key] = change.cookie
        assert {cookie.key: cookie.sequence for cookie in jar} == {key: told[key].sequence for key in told}
        assert len(jar) == len(told) <= 6
