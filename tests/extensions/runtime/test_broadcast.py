"""BroadcastChannel: delivers messages between the scripts of one background only."""

from __future__ import annotations

from pathlib import Path

from tests.extensions.runtime.lab import BASE, Lab, in_lab, needs_deno

pytestmark = needs_deno


def test_bad_input_is_refused(tmp_path: Path) -> None:
    cases = [
        ("new BroadcastChannel()", "TypeError"),
        ("BroadcastChannel('x')", "TypeError"),
        ("new BroadcastChannel('x').postMessage()", "TypeError"),
        ("new BroadcastChannel('x').postMessage(() => {})", "DataCloneError"),
        ("const c = new BroadcastChannel('x'); c.close(); c.close(); c.postMessage(1)", "InvalidStateError"),
        ("BroadcastChannel.prototype.postMessage.call({}, 1)", "TypeError"),
    ]

    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        for source, name in cases:
            assert await runtime.evaluate(f"try {{ {source} }} catch (e) {{ return e.name }}") == name, source

    in_lab(tmp_path, use)


def test_the_others_of_the_same_name_are_told_later_and_of_what_it_was_then(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        assert await runtime.evaluate("""
          const got = [];
          const [one, two, three, other, shut] = ["a", "a", "a", "b", "a"].map(name => new BroadcastChannel(name));
          for (const [who, channel] of Object.entries({one, two, three, other, shut})) {
            channel.onmessage = ({data, origin, target}) => { got.push([who, data, origin, target === channel]); };
          }
          shut.onmessageerror = 5;
          const done = new Promise(resolve => { three.addEventListener("message", resolve); });
          const message = {n: 1};
          one.postMessage(message);
          message.n = 2;
          shut.close();
          got.push("posted");
          await done;
          return [got, one.name, `${one}`, one.onmessageerror];
        """) == [
            ["posted", ["two", {"n": 1}, BASE[:-1], True], ["three", {"n": 1}, BASE[:-1], True]],
            "a",
            "[object BroadcastChannel]",
            None,
        ]

    in_lab(tmp_path, use)


def test_other_extensions_hear_nothing(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        listens = await lab.start("var heard = 0; new BroadcastChannel('a').onmessage = () => { heard++; }")
        speaks = await lab.start()
        await speaks.evaluate("new BroadcastChannel('a').postMessage(1)")
        assert await listens.evaluate("await new Promise(r => { setTimeout(r, 5); }); return heard") == 0

    in_lab(tmp_path, use)
