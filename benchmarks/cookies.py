"""The cookie engine against the jars of Python's HTTP clients: header and store, at three sizes, in one run.

    python benchmarks/cookies.py [--quick]

Each jar holds 10 cookies a site, all of which go with the URL that is asked for. The URLs go round all sites, as text,
and each side does its own URL handling. Times are CPU time, the best of several rounds; only their ratios mean
something on another machine. A peer that is not installed is left out, and said to be; tough-cookie needs Node, and
NODE_PATH to say where the package is. `--quick` leaves out the slow peers at the largest size.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from importlib.util import find_spec
from itertools import cycle, islice
from math import inf
from time import process_time, time
from typing import Any, NamedTuple

from hatbox.cookies import Jar, JarLimits, parse_request_url

SIZES = (100, 10_000, 100_000)
PER_SITE = 10
UNLIMITED = JarLimits(per_site=inf, per_store=inf)
ATTRIBUTES = "Path=/; Max-Age=86400; Secure; HttpOnly; SameSite=Lax"
ROUNDS = 5
LEAST_SECONDS = 0.05
OURS = "hatbox"
SLOW = ("http.cookiejar", "requests", "httpx")


class Faces(NamedTuple):
    """What is measured: the header for a URL, and storing a line that came from it."""

    header: Callable[[str], object]
    store: Callable[[str, str], object]


class Timing(NamedTuple):
    """Seconds for one operation."""

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


def hatbox_forgetful(urls: list[str], lines: list[str]) -> Faces:
    """Our jar when neither URLs nor answers are remembered: what a first request costs."""
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


def requests(urls: list[str], lines: list[str]) -> Faces:
    """A requests.Session that prepares a request and reads a response."""
    import requests as module
    from requests.cookies import RequestsCookieJar

    session = module.Session()
    jar = RequestsCookieJar()
    for cookie in _plain_jar(urls, lines):
        jar.set_cookie(cookie)
    session.cookies = jar
    return Faces(
        lambda url: session.prepare_request(module.Request("GET", url)).headers.get("Cookie"),
        lambda url, line: jar.extract_cookies(_response([line]), urllib.request.Request(url)),
    )


def httpx(urls: list[str], lines: list[str]) -> Faces:
    """An httpx.Client that builds a request and reads a response."""
    import httpx as module

    client = module.Client(trust_env=False)
    for cookie in _plain_jar(urls, lines):
        client.cookies.jar.set_cookie(cookie)

    def store(url: str, line: str) -> None:
        headers = [("Set-Cookie", line)]
        client.cookies.extract_cookies(module.Response(200, headers=headers, request=module.Request("GET", url)))

    return Faces(lambda url: client.build_request("GET", url).headers.get("Cookie"), store)


PEERS: dict[str, tuple[str, Callable[[list[str], list[str]], Faces]]] = {
    OURS: ("hatbox", hatbox),
    "hatbox, forgetful": ("hatbox", hatbox_forgetful),
    "aiohttp": ("aiohttp", aiohttp),
    "http.cookiejar": ("http", http_cookiejar),
    "requests": ("requests", requests),
    "httpx": ("httpx", httpx),
}

TOUGH_COOKIE = """
const { CookieJar } = require("tough-cookie");
const { urls, lines } = JSON.parse(require("fs").readFileSync(0));
const jar = new CookieJar();
for (const url of urls) for (const line of lines) jar.setCookieSync(line, url);
const best = (once) => {
  let seconds = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = process.cpuUsage();
    let count = 0;
    for (; count < 20000; count++) once(urls[count % urls.length], count);
    const used = process.cpuUsage(start);
    seconds = Math.min(seconds, (used.user + used.system) / 1e6 / count);
  }
  return seconds;
};
const header = best((url) => jar.getCookieStringSync(url));
const store = best((url, count) => jar.setCookieSync(`session=${count}; Path=/; Max-Age=86400; Secure`, url));
console.log(JSON.stringify({ header, store }));
"""


def main() -> int:
    """Measure, print the table and each bar; the exit status says whether all bars hold."""
    quick = "--quick" in sys.argv[1:]
    results: dict[str, dict[int, Timing]] = {}
    for name, (package, make) in PEERS.items():
        if find_spec(package) is None:
            print(f"{name}: not installed, left out")
            continue
        sizes = [size for size in SIZES if not (quick and name in SLOW and size == SIZES[-1])]
        results[name] = {size: measured(make, size) for size in sizes}
    tough = tough_cookie()
    if tough:
        results["tough-cookie (Node)"] = tough
    print_table(results)
    return 0 if print_bars(results) else 1


def measured(make: Callable[[list[str], list[str]], Faces], size: int) -> Timing:
    """The best of several rounds on a jar of this size."""
    urls = urls_of(size)
    faces = make(urls, lines_of_a_site())
    values = iter(range(10**9))
    return Timing(
        best(lambda url: faces.header(url), urls),
        best(lambda url: faces.store(url, f"session={next(values)}; {ATTRIBUTES}"), urls),
    )


def best(once: Callable[[str], object], urls: list[str]) -> float:
    """CPU seconds of one call; all sites in each round, unless that takes longer than anybody would wait."""
    count = 1
    while (taken := _timed(once, urls, count)) < LEAST_SECONDS:
        count *= 4
    if taken / count * len(urls) < 2:
        count = max(count, len(urls))
    rounds = 1 if taken > 1 else ROUNDS
    return min(_timed(once, urls, count) for _ in range(rounds)) / count


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


def tough_cookie() -> dict[int, Timing]:
    """tough-cookie's times, if Node and the package are there."""
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", "require('tough-cookie')"], capture_output=True).returncode:
        print("tough-cookie: Node or the package is not there (NODE_PATH), left out")
        return {}
    timings = {}
    for size in SIZES:
        task = json.dumps({"urls": urls_of(size), "lines": lines_of_a_site()})
        done = subprocess.run([node, "-e", TOUGH_COOKIE], input=task, capture_output=True, text=True, check=True)
        timings[size] = Timing(**json.loads(done.stdout))
    return timings


def print_table(results: dict[str, dict[int, Timing]]) -> None:
    """Microseconds for each jar at each size."""
    print(f"\n{'µs an operation':22}" + "".join(f"{f'header, {size:,}':>18}" for size in SIZES), end="")
    print("".join(f"{f'store, {size:,}':>17}" for size in SIZES))
    for name, timings in results.items():
        headers = "".join(_cell(timings[size].header if size in timings else None, 18) for size in SIZES)
        stores = "".join(_cell(timings[size].store if size in timings else None, 17) for size in SIZES)
        print(f"{name:22}{headers}{stores}")
    print()


def _cell(seconds: float | None, width: int) -> str:
    return f"{seconds * 1e6:>{width},.1f}" if seconds is not None else f"{'-':>{width}}"


def print_bars(results: dict[str, dict[int, Timing]]) -> bool:
    """Each bar with what was measured, and whether all hold."""
    ours = results[OURS]
    peers = {name: results[name] for name in ("aiohttp", *SLOW) if name in results}
    held = []
    for size in SIZES:
        fastest = min((name for name in peers if size in peers[name]), key=lambda name: peers[name][size].header)
        ratio = peers[fastest][size].header / ours[size].header
        held.append(_bar(f"header at {size:,}: at least 3x the fastest Python jar ({fastest})", ratio, ratio >= 3))
    ratio = peers["http.cookiejar"][10_000].header / ours[10_000].header
    held.append(_bar("header at 10,000: at least 100x http.cookiejar", ratio, ratio >= 100))
    ratio = ours[SIZES[-1]].header / ours[SIZES[0]].header
    held.append(_bar(f"header: growth from {SIZES[0]:,} to {SIZES[-1]:,} at most 10x", ratio, ratio <= 10))
    for size in SIZES if "aiohttp" in peers else ():
        ratio = ours[size].store / peers["aiohttp"][size].store
        held.append(_bar(f"store at {size:,}: at most the time of aiohttp", ratio, ratio <= 1))
    return all(held)


def _bar(text: str, ratio: float, held: bool) -> bool:
    print(f"{'pass' if held else 'FAIL'}  {text}: {ratio:,.2f}x")
    return held


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


if __name__ == "__main__":
    sys.exit(main())
