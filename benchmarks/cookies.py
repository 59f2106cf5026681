"""The cookie engine against the jars of Python's HTTP clients: header and store, at three sizes.

    python -m benchmarks.cookies

Each jar holds 10 cookies a site, all of which go with the URL that is requested. The URLs go round all sites, as text,
and each side does its own URL handling. Times are CPU time, the best of several rounds. requests and httpx use
http.cookiejar.
"""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import Callable
from itertools import cycle, islice
from math import inf
from pathlib import Path
from time import process_time, time
from typing import Any, NamedTuple

from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.cookies import Jar, JarLimits, parse_request_url

SIZES = SMALL, MIDDLE, LARGE = "100", "10,000", "100,000"
PER_SITE = 10
UNLIMITED = JarLimits(per_site=inf, per_store=inf)
ATTRIBUTES = "Path=/; Max-Age=86400; Secure; HttpOnly; SameSite=Lax"
ROUNDS = 5


class Faces(NamedTuple):
    """What is measured: the header for a URL, and storing a line that came from it."""

    header: Callable[[str], object]
    store: Callable[[str, str], object]


class Times(NamedTuple):
    """Microseconds for one operation."""

    header: float
    store: float


def hatbox(urls: list[str], lines: list[str]) -> Faces:
    """Our jar."""
    now = time()
    jar = Jar(UNLIMITED)
    for url in urls:
        jar.store_all(lines, url, now)
    return Faces(
        lambda url: jar.header(parse_request_url(url), now),
        lambda url, line: jar.store(line, parse_request_url(url), now),
    )


def hatbox_uncached(urls: list[str], lines: list[str]) -> Faces:
    """Our jar when neither URLs nor results are cached: what a first request costs."""
    now = time()
    jar = Jar(UNLIMITED)
    for url in urls:
        jar.store_all(lines, url, now)
    split = parse_request_url.__wrapped__
    return Faces(
        lambda url: "; ".join([cookie.pair for cookie in jar.select(split(url), now)]),
        lambda url, line: jar.store(line, split(url), now),
    )


def aiohttp(urls: list[str], lines: list[str]) -> Faces:
    """aiohttp's jar, its limits lifted."""
    from aiohttp import cookiejar
    from yarl import URL

    for limit in ("_MAX_COOKIES_PER_DOMAIN", "_MAX_COOKIES_TOTAL"):
        setattr(cookiejar, limit, 10**9)

    async def make() -> cookiejar.CookieJar:
        return cookiejar.CookieJar()

    jar = asyncio.run(make())
    for url in urls:
        jar.update_cookies_from_headers(lines, URL(url))
    return Faces(
        lambda url: jar.filter_cookies(URL(url)),
        lambda url, line: jar.update_cookies_from_headers([line], URL(url)),
    )


def http_cookiejar(urls: list[str], lines: list[str]) -> Faces:
    """The standard library's jar, as urllib uses it."""
    jar = _plain_jar(urls, lines)

    def header(url: str) -> object:
        request = urllib.request.Request(url)
        jar.add_cookie_header(request)
        return request.get_header("Cookie")

    return Faces(header, lambda url, line: jar.extract_cookies(_response([line]), urllib.request.Request(url)))


JARS: dict[str, Callable[[list[str], list[str]], Faces]] = {
    "hatbox": hatbox,
    "uncached": hatbox_uncached,
    "aiohttp": aiohttp,
    "http.cookiejar": http_cookiejar,
}


def measure(_: Path, middle: int, large: int, least_seconds: float) -> Measured:
    """All figures."""
    sizes = {SMALL: 100, MIDDLE: middle, LARGE: large}
    times = {name: {size: times_of(make, sizes[size], least_seconds) for size in sizes} for name, make in JARS.items()}
    ours = times["hatbox"]
    figures: dict[str, float | tuple[float, float]] = {}
    for size in sizes:
        for peer in ("aiohttp", "http.cookiejar"):
            figures[f"header, {size} cookies, to {peer}"] = (ours[size].header, times[peer][size].header)
        figures[f"header without a cached result, {size} cookies"] = times["uncached"][size].header
        figures[f"store a Set-Cookie, {size} cookies"] = (ours[size].store, times["aiohttp"][size].store)
    figures[f"header, {LARGE} cookies"] = (ours[LARGE].header, ours[SMALL].header)
    return figures


def times_of(make: Callable[[list[str], list[str]], Faces], size: int, least_seconds: float) -> Times:
    """The best of several rounds on a jar of this size, in microseconds."""
    urls = urls_of(size)
    faces = make(urls, lines_of_a_site())
    values = iter(range(10**9))
    return Times(
        best(lambda url: faces.header(url), urls, least_seconds),
        best(lambda url: faces.store(url, f"session={next(values)}; {ATTRIBUTES}"), urls, least_seconds),
    )


def best(once: Callable[[str], object], urls: list[str], least_seconds: float) -> float:
    """CPU microseconds of one call; all sites in each round, unless that takes longer than anybody would wait."""
    count = 1
    while (taken := _timed(once, urls, count)) < least_seconds:
        count *= 4
    if taken / count * len(urls) < 2:
        count = max(count, len(urls))
    rounds = 1 if taken > 1 else ROUNDS
    return min(_timed(once, urls, count) for _ in range(rounds)) / count * 1e6


def _timed(once: Callable[[str], object], urls: list[str], count: int) -> float:
    chosen = list(islice(cycle(urls), count))
    start = process_time()
    for url in chosen:
        once(url)
    return process_time() - start


def urls_of(size: int) -> list[str]:
    """One URL a site, in an order that has nothing to do with how they lie in memory."""
    count = size // PER_SITE
    return [f"https://www.site{number * 7919 % count}.example/account/page" for number in range(count)]


def lines_of_a_site() -> list[str]:
    """The ten cookies that each site sets."""
    return [f"name{number}=value-{number}; {ATTRIBUTES}" for number in range(PER_SITE)]


def _plain_jar(urls: list[str], lines: list[str]) -> Any:
    from http.cookiejar import CookieJar

    jar = CookieJar()
    for url in urls:
        jar.extract_cookies(_response(lines), urllib.request.Request(url))
    return jar


def _response(lines: list[str]) -> Any:
    return _Response(lines)


class _Response:
    """As much of a response as http.cookiejar looks at."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def info(self) -> _Response:
        return self

    def get_all(self, name: str, default: list[str]) -> list[str]:
        return self._lines if name == "Set-Cookie" else default


BENCHMARK = Benchmark(
    measure,
    [
        *(Figure(f"header, {size} cookies, to aiohttp", "µs", "aiohttp", at_least=3) for size in SIZES),
        *(
            Figure(f"header, {size} cookies, to http.cookiejar", "µs", "http.cookiejar", at_least=bar)
            for size, bar in zip(SIZES, (3, 100, 3), strict=True)
        ),
        *(Figure(f"header without a cached result, {size} cookies", "µs") for size in SIZES),
        Figure(f"header, {LARGE} cookies", "µs", f"{SMALL} cookies", at_most=10),
        *(Figure(f"store a Set-Cookie, {size} cookies", "µs", "aiohttp", at_most=1) for size in SIZES),
    ],
    middle=(10_000, 200),
    large=(100_000, 300),
    least_seconds=(0.05, 0.0001),
)

if __name__ == "__main__":
    BENCHMARK.main()
