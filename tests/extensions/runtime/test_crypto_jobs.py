"""Jobs of crypto.subtle run in threads: a script may start as many as it likes, and the machine stays usable."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.extensions.runtime import RuntimeLimits
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno

pytestmark = needs_deno

PREPARE = """
var bytes = length => new Uint8Array(length).fill(7);
var {subtle} = crypto;
var base;
var many = (count, start) => Promise.all(Array.from({length: count}, (_, i) => start(i)));
var derive = () => subtle.deriveBits({name: "PBKDF2", hash: "SHA-256", salt: bytes(8), iterations: 3000}, base, 256);
var prepare = async () => {
    base = await subtle.importKey("raw", bytes(8), "PBKDF2", false, ["deriveBits", "deriveKey"]);
};
"""
FLOODS = {
    "deriveBits": "many(600, derive)",
    "digest": "many(100, () => subtle.digest('SHA-512', bytes(500_000)))",
    "generateKey": "many(40, () => subtle.generateKey({name: 'ECDSA', namedCurve: 'P-384'}, true, ['sign']))",
}


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_jobs_takes_few_threads(tmp_path: Path, name: str) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(PREPARE)
        # Starts the threads of Deno itself.
        await runtime.evaluate("(async () => { await prepare(); await derive(); })()")
        before = _threads(runtime.process.pid)
        done = await runtime.evaluate(f"(async () => {{ await prepare(); return (await {FLOODS[name]}).length; }})()")
        assert done in (600, 100, 40)
        # Without a limit it is 24 more. With it, Deno starts some in addition while threads that have ended a job wait
        # for a processor: two on a quiet machine, five on a busy one. They stay for some seconds.
        assert _threads(runtime.process.pid) <= before + 5 * RuntimeLimits().jobs

    in_lab(tmp_path, use, seconds=120)


def test_jobs_that_wait_get_what_they_were_called_with(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(PREPARE)
        script = """(async () => {
            await prepare();
            many(10, derive);
            const data = new Uint8Array([1, 2, 3, 4]);
            const part = new Uint16Array(data.buffer, 2, 1);
            const salt = bytes(8);
            const how = {name: "PBKDF2", hash: {name: "SHA-256"}, salt, iterations: 1};
            const waiting = [
                subtle.digest("SHA-256", data), subtle.digest("SHA-256", data.buffer), subtle.digest("SHA-256", part),
                subtle.deriveBits(how, base, 256),
            ];
            data.fill(0);
            salt.fill(0);
            how.iterations = 2;
            how.hash.name = "SHA-512";
            const expected = [
                subtle.digest("SHA-256", new Uint8Array([1, 2, 3, 4])),
                subtle.digest("SHA-256", new Uint8Array([1, 2, 3, 4])),
                subtle.digest("SHA-256", new Uint8Array([3, 4])),
                subtle.deriveBits({name: "PBKDF2", hash: "SHA-256", salt: bytes(8), iterations: 1}, base, 256),
            ];
            const texts = async all => (await Promise.all(all)).map(each => new Uint8Array(each).join());
            return [await texts(waiting), await texts(expected)];
        })()"""
        waiting, expected = await runtime.evaluate(script)
        assert waiting == expected

    in_lab(tmp_path, use)


def test_jobs_of_several_steps_end_while_others_wait(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(PREPARE)
        script = """(async () => {
            await prepare();
            const how = {name: "PBKDF2", hash: "SHA-256", salt: bytes(8), iterations: 10};
            const aes = {name: "AES-GCM", length: 256};
            const uses = ["wrapKey", "unwrapKey", "encrypt"];
            const keys = await many(20, () => subtle.deriveKey(how, base, aes, true, uses));
            const iv = {name: "AES-GCM", iv: bytes(12)};
            const wrapped = await many(20, i => subtle.wrapKey("raw", keys[i], keys[0], iv));
            const back = await many(20, i => subtle.unwrapKey("raw", wrapped[i], keys[0], iv, aes, true, ["encrypt"]));
            const first = new Uint8Array(await subtle.exportKey("raw", keys[0])).join();
            return (await many(20, async i => new Uint8Array(await subtle.exportKey("raw", back[i])).join() === first))
                .filter(each => each).length;
        })()"""
        assert await runtime.evaluate(script) == 20

    in_lab(tmp_path, use)


def test_a_job_that_fails_is_rejected_and_the_next_one_runs(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(PREPARE)
        script = """(async () => {
            const broken = {get name() { throw new RangeError("mine"); }};
            const names = await many(30, i => [
                () => subtle.digest("no such thing", bytes(1)), () => subtle.digest(broken, bytes(1)),
                () => subtle.digest.call({}, "SHA-1", bytes(1)), () => subtle.digest(),
            ][i % 4]().catch(error => error.name));
            return [[...new Set(names)].sort(), (await subtle.digest("SHA-256", bytes(1))).byteLength];
        })()"""
        assert await runtime.evaluate(script) == [["NotSupportedError", "RangeError", "TypeError"], 32]

    in_lab(tmp_path, use)
