"""page_pipe.js with a host that the test plays, in Deno."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hatbox.extensions.runtime
from tests.in_deno import value_in_deno

pytestmark = pytest.mark.deno

PIPE = Path(hatbox.extensions.runtime.__file__).parent / "js" / "page_pipe.js"
START = f"""
  import {{createPipe}} from {json.dumps(PIPE.as_uri())};
  const posted = [];
  const pipe = createPipe({{post: text => {{ posted.push(JSON.parse(text)); }}}});
"""
FILL = "for (let i = 0; i < 100; i++) pipe.sendNow(`[${i}]`);"


def test_two_texts_are_in_flight_and_the_others_follow_when_the_host_has_received_them() -> None:
    found = value_in_deno(
        START,
        f"""
      {FILL}
      const first = posted.length;
      pipe.receive("", 2 * ((1 << 17) + 5));
      return [first, posted.length, posted.flat()];
    """,
    )
    assert found == [2, 4, [[0], [1], [2], [3]]]


def test_a_response_to_a_ping_is_sent_before_the_messages_that_wait() -> None:
    assert value_in_deno(START, f"{FILL} pipe.sendFirst('[\"pong\"]'); return posted.flat();") == [[0], [1], ["pong"]]
