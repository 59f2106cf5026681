"""Site data: localStorage and IndexedDB of all types are restored."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hatbox
from hatbox.engines.chromium.site_data_sync import SiteDataSync
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import LOCAL_STORAGE, SiteDataRemoval, clear_site_data
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.store.in_loop import in_loop
from tests.waiting import until_awaited

WORK = 2

WRITE = """async () => {
  localStorage.setItem("lone \\ud800", "half \\udc00 and 日本");
  localStorage.setItem("empty", "");
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const opening = indexedDB.open("kinds", 7);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore("loose");
    const inline = opening.result.createObjectStore("inline", { keyPath: ["a", "b"] });
    inline.createIndex("by c", "c", { unique: true, multiEntry: false });
    opening.result.createObjectStore("counted", { autoIncrement: true });
  };
  const database = await done(opening);
  const cycle = { name: "cycle", shared: [1] };
  cycle.self = cycle;
  cycle.again = cycle.shared;
  const bytes = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
  const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt", "decrypt"]);
  const locked = await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, false, ["encrypt"]);
  const values = {
    plain: { text: "a", number: 1.5, none: null, yes: true, list: [1, [2, ["x"]]] },
    odd: [undefined, NaN, -0, Infinity, 12345678901234567890n, "\\ud800"],
    time: new Date(86400000),
    never: new Date(NaN),
    pattern: /a+b/gi,
    map: new Map([["k", new Set([1, "2"])], [{ o: 1 }, null]]),
    buffer: bytes.buffer,
    view: bytes.subarray(2, 5),
    data: new DataView(bytes.buffer, 1, 3),
    blob: new Blob(["some text"], { type: "text/plain" }),
    file: new File(["more"], "name.txt", { type: "text/csv", lastModified: 5 }),
    error: new TypeError("what"),
    proto: JSON.parse('{"__proto__": 1, "constructor": 2}'),
    cycle,
    key,
    locked: { name: "cannot be taken out", locked },
  };
  const transaction = database.transaction(["loose", "inline", "counted"], "readwrite");
  for (const [name, value] of Object.entries(values)) transaction.objectStore("loose").put(value, name);
  transaction.objectStore("loose").put("by date", new Date(5));
  transaction.objectStore("loose").put("by list", [1, "x", new Uint8Array([9])]);
  transaction.objectStore("inline").put({ a: 1, b: "x", c: "unique" });
  transaction.objectStore("counted").put("one");
  transaction.objectStore("counted").put("two");
  await new Promise((resolve) => { transaction.oncomplete = resolve; });
  database.close();
}"""

READ = """async () => {
  const done = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const database = await done(indexedDB.open("kinds"));
  const loose = database.transaction("loose").objectStore("loose");
  const found = {};
  for (const key of await done(loose.getAllKeys())) {
    found[key] = await done(database.transaction("loose").objectStore("loose").get(key));
  }
  const inline = database.transaction("inline").objectStore("inline");
  const index = inline.index("by c");
  const unique = await done(index.get("unique"));
  const counted = database.transaction("counted", "readwrite").objectStore("counted");
  const count = await done(counted.put("three"));
  const seen = {
    local: [localStorage.getItem("lone \\ud800") === "half \\udc00 and 日本", localStorage.getItem("empty")],
    version: database.version,
    keys: Object.keys(found).length,
    plain: JSON.stringify(found.plain),
    odd: found.odd.map((each) => Object.is(each, -0) ? "-0" : typeof each + " " + escape(String(each))),
    time: found.time instanceof Date && found.time.getTime(),
    never: found.never instanceof Date && String(found.never.getTime()),
    pattern: String(found.pattern),
    map: found.map instanceof Map && [...found.map].map(([key, value]) => [JSON.stringify(key), value && [...value]]),
    buffer: [...new Uint8Array(found.buffer)],
    view: [found.view.constructor.name, ...found.view],
    data: [found.data.constructor.name, found.data.getUint8(0), found.data.byteLength],
    blob: [found.blob instanceof Blob, found.blob.type, await found.blob.text()],
    file: [found.file instanceof File, found.file.name, found.file.lastModified, await found.file.text()],
    error: [found.error instanceof TypeError, found.error.message],
    proto: Object.getOwnPropertyNames(found.proto),
    cycle: [found.cycle.self === found.cycle, found.cycle.again === found.cycle.shared],
    key: found.key instanceof CryptoKey && [found.key.algorithm.length, found.key.usages, found.key.extractable],
    locked: found.locked === undefined,
    inline: [inline.keyPath, index.unique, unique.b],
    dated: await done(database.transaction("loose").objectStore("loose").get(new Date(5))),
    listed: await done(database.transaction("loose").objectStore("loose").get([1, "x", new Uint8Array([9])])),
    counted: [count, counted.autoIncrement],
  };
  database.close();
  return seen;
}"""


@with_browser
async def test_values_of_all_types_are_restored(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.evaluate(WRITE)
        before = await page.evaluate(READ)
        assert before["keys"] == 18
        await profile.identities.hide("firefox-container-2")
        await runner.wait_until_settled()
        await profile.identities.show("firefox-container-2")
        (tab,) = await profile.tabs.query("Work")
        after = await (await runner.page(tab.id)).evaluate(READ)
    # A key that is not extractable cannot be saved: no entry is better than a broken one.
    before |= {"keys": before["keys"] - 1, "locked": True}
    before["counted"] = [before["counted"][0] + 1, True]  # one more was counted when it was read the first time
    assert after == before


async def saved(profile: hatbox.Profile) -> dict[str, bytes]:
    return dict(await profile.tabs.read(lambda each: each.site_data.load(WORK)))


@with_browser
async def test_changes_are_saved_soon_and_cleared_data_is_removed(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        origin = site.url("").removesuffix("/")
        assert await saved(profile) == {}

        async def contains(text: bytes) -> bool:
            return text in (await saved(profile)).get(origin, b"")

        await page.evaluate("localStorage.setItem('a', 'first')")
        await until_awaited(lambda: contains(b"first"))
        await page.evaluate("localStorage.setItem('a', 'second')")
        await until_awaited(lambda: contains(b"second"))
        await page.goto(site.url("/storage", write="third"))
        await until_awaited(lambda: contains(b"third"))
        put = """() => new Promise((resolve) => {
          const opening = indexedDB.open("site");
          opening.onsuccess = () => {
            const transaction = opening.result.transaction("kept", "readwrite");
            transaction.objectStore("kept").put("fourth", "more");
            transaction.oncomplete = () => resolve(opening.result.close());
          };
        })"""
        await page.evaluate(put)
        await until_awaited(lambda: contains(b"fourth"))
        await page.goto(site.url("/page/2"))  # which does not open the database
        await page.evaluate("localStorage.clear(); indexedDB.deleteDatabase('site'); 0")

        async def is_removed() -> bool:
            return await saved(profile) == {}

        await until_awaited(is_removed)


@with_browser
async def test_data_written_just_before_the_page_was_closed_is_saved(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.evaluate("localStorage.setItem('last', 'words')")
        await page.close()  # as the user would

        async def is_saved() -> bool:
            return any(b"words" in data for data in (await saved(profile)).values())

        await until_awaited(is_saved)


@with_browser
async def test_site_data_is_separate_for_each_identity_and_origin(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        for name in ("Work", "Personal"):
            for host in ("127.0.0.1", "localhost"):
                page = await runner.new_page(name, site.url("/storage", host=host, write=f"{name} {host}"))
                await page.wait_for_function("document.title.startsWith('local ')")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        for name in ("Work", "Personal"):
            for host in ("127.0.0.1", "localhost"):
                page = await runner.new_page(name, site.url("/storage", host=host))
                await page.wait_for_function("document.title.startsWith('local ')")
                assert await page.title() == f"local {name} {host}, indexed {name} {host}"


@with_browser
async def test_the_storage_of_a_cross_site_frame_is_partitioned(browser: str, path: Path, site: Site) -> None:
    """Playwright disables storage partitioning, and the engine enables it."""
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        alone = await runner.new_page("Work", site.url("/page/1", host="localhost"))
        await alone.evaluate("localStorage.setItem('a', 'alone')")
        page = await runner.new_page("Work", site.url("/page/1"))
        inner = site.url("/page/2", host="localhost")
        await page.evaluate(
            f"document.body.append(Object.assign(document.createElement('iframe'), {{src: '{inner}'}}))"
        )

        async def frame() -> object:
            return next((each for each in page.frames if each.url == inner), None)

        await until_awaited(frame)
        framed = next(each for each in page.frames if each.url == inner)
        await framed.wait_for_load_state()
        assert await framed.evaluate("localStorage.getItem('a')") is None
        await framed.evaluate("localStorage.setItem('a', 'framed')")
    async with hatbox.open(path) as profile:
        assert b"alone" in (await saved(profile))[site.url("", host="localhost").removesuffix("/")]
        assert all(b"framed" not in data for data in (await saved(profile)).values())


@with_browser
async def test_an_origin_with_too_much_data_is_logged_once(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.site_data_sync._MAX_ORIGIN_CHARS", 1000)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/storage", write="x" * 2000))
        await page.wait_for_function("document.getElementById('indexed').textContent !== ''")  # it writes after loading
        await page.evaluate("localStorage.clear(); localStorage.setItem('small', 'kept')")
        origin = site.url("").removesuffix("/")

        async def is_saved() -> bool:
            return b"small" in (await saved(profile)).get(origin, b"")

        await until_awaited(is_saved)
        await page.evaluate("localStorage.setItem('small', 'kept still')")
    async with hatbox.open(path) as profile:
        assert b"xxx" not in (await saved(profile))[origin]
    warnings = [each.message for each in caplog.records if "IndexedDB not saved" in each.message]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"site data: {origin} exceeds ")


class _Slow:
    """A page whose script returns after `released`."""

    def __init__(self) -> None:
        self.origins = ["https://a.example"]
        self.data = '{"local":[["k","v"]],"databases":[]}'
        self.called = asyncio.Event()
        self.released = asyncio.Event()

    async def evaluate_in_origin(self, origin: str, script: str) -> object:
        data = self.data
        self.called.set()
        await self.released.wait()
        return data


@in_loop
async def test_data_cleared_while_it_is_being_saved_is_removed(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        slow, store = _Slow(), profile.store
        site_data = SiteDataSync(store, WORK, lambda: [slow])
        saving = asyncio.ensure_future(site_data.save(slow, slow.origins[0]))
        await slow.called.wait()
        await store.write(lambda each: clear_site_data(each, WORK, [LOCAL_STORAGE]))
        slow.data = ""
        site_data.cleared(SiteDataRemoval(WORK, [LOCAL_STORAGE], None))
        slow.released.set()
        await saving

        assert await store.read(_rows) != []
        await until_awaited(lambda: _is(store.read(_rows), []))


@in_loop
async def test_data_written_again_after_it_was_cleared_is_saved(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        page, store = _Slow(), profile.store
        page.released.set()
        site_data = SiteDataSync(store, WORK, lambda: [page])
        await site_data.save(page, page.origins[0])
        saved = await store.read(_rows)
        await store.write(lambda each: clear_site_data(each, WORK, [LOCAL_STORAGE]))
        site_data.cleared(SiteDataRemoval(WORK, [LOCAL_STORAGE], None))
        await until_awaited(lambda: _is(store.read(_rows), saved))


def _rows(transaction: Transaction) -> list[tuple[str, bytes]]:
    return transaction.site_data.load(WORK)


async def _is(rows: asyncio.Future[list[tuple[str, bytes]]], wanted: list[tuple[str, bytes]]) -> bool:
    return await rows == wanted
