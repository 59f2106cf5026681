"""A client behind a filter, without a browser: messages in, messages out."""

from __future__ import annotations

import itertools
import json
from typing import Any

from hatbox.engines.chromium.endpoint.client_files import ClientFiles
from hatbox.engines.chromium.endpoint.client_filter import ClientFilter
from hatbox.engines.chromium.endpoint.messages import ClientAction, CompileScript, Output, ToBrowser, ToClient

WORK = "C" * 32
OTHER = "D" * 32


def info(
    target_id: str, context: str = WORK, kind: str = "page", url: str = "http://a.test/", **more: Any
) -> dict[str, Any]:
    return {
        "targetId": target_id,
        "type": kind,
        "title": f"title of {target_id}",
        "url": url,
        "attached": False,
        "canAccessOpener": False,
        "browserContextId": context,
        **more,
    }


class FilteredClient:
    """A client of the context WORK. Outputs of the last call are in `outputs`, sorted into the three lists.

    `recorded` has the entries of the activity log of all calls. Chromium's numbers of commands of the client are shown
    as the ids of the client.
    """

    def __init__(self, page_id: str = "", *targets: dict[str, Any], files: ClientFiles | None = None) -> None:
        self.filter = ClientFilter(WORK, page_id, files=files)
        self.now = 0.0
        self.failure: dict[str, Any] | None = None  # the exceptionDetails of scripts
        self.ids = itertools.count(1001)
        self.sent: dict[str, int] = {}  # commands of the client that Chromium has not received
        self.numbers: dict[int, int] = {}  # Chromium's numbers by the ids of the client
        self.outputs: list[Output] = []
        self.recorded: list[tuple[str, str]] = []
        self.to_browser: list[dict[str, Any]] = []
        self.to_client: list[dict[str, Any]] = []
        self.perform(self.filter.start())
        discover = self.to_browser[0]["id"]
        for each in targets:
            self.event("Target.targetCreated", {"targetInfo": each})
        self.receive(id=discover, result={})

    def perform(self, outputs: list[Output]) -> None:
        self.outputs = [each for each in outputs if not isinstance(each, ClientAction)]
        self.recorded += [(each.action, each.url) for each in outputs if isinstance(each, ClientAction)]
        self.to_browser = [json.loads(each.text) for each in outputs if isinstance(each, ToBrowser)]
        self.to_client = [json.loads(each.text) for each in outputs if isinstance(each, ToClient)]
        for each in self.to_browser:
            number = self.sent.pop(each["method"], None)
            if number is not None:
                self.numbers[number], each["id"] = each["id"], number

    def send(self, method: str, params: Any = None, session: str = "", **more: Any) -> int:
        """A command of the client; returns its id."""
        number = more.pop("id", None) or next(self.ids)
        self.sent[method] = number
        message = {"id": number, "method": method, **({} if params is None else {"params": params}), **more}
        self.perform(self.filter.from_client(json.dumps(message | ({"sessionId": session} if session else {}))))
        while any(isinstance(each, CompileScript) for each in self.outputs):
            self.perform(self.filter.compiled(self.failure))
        return number

    def refused(self, method: str, params: Any = None, session: str = "", **more: Any) -> str:
        """The error of a command that Chromium must not receive."""
        number = self.send(method, params, session, **more)
        assert self.to_browser == []
        (answer,) = self.to_client
        assert answer["id"] == number
        return str(answer["error"]["message"])

    def forwarded(self, method: str, params: Any = None, session: str = "") -> dict[str, Any]:
        """The command that Chromium receives, and nothing else, except that the endpoint enables Runtime."""
        number = self.send(method, params, session)
        assert self.to_client == [], self.to_client
        (command,) = [each for each in self.to_browser if each["id"] == number or each["method"] != "Runtime.enable"]
        assert (command["id"], command["method"], command.get("sessionId", "")) == (number, method, session)
        return dict(command["params"])

    def answered(self, method: str, params: Any = None, session: str = "") -> dict[str, Any]:
        """The result of a command that the filter answers."""
        self.send(method, params, session)
        assert self.to_browser == []
        return dict(self.to_client[-1]["result"])

    def receive(self, **message: Any) -> None:
        """A message of Chromium."""
        if "id" in message:
            message["id"] = self.numbers.get(message["id"], message["id"])
        self.perform(self.filter.from_browser(json.dumps(message), self.now))

    def event(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> None:
        self.receive(method=method, params=params or {}, **({"sessionId": session} if session else {}))

    def result(self, number: int, result: dict[str, Any], session: str = "") -> Any:
        """The response of Chromium; returns what the client receives."""
        self.receive(id=number, result=result, **({"sessionId": session} if session else {}))
        return self.to_client[-1] if self.to_client else None

    def attach(self, target_id: str, session: str, parent: str = "", *, waiting: bool = False, **more: Any) -> None:
        """Chromium attaches the client to a target."""
        params = {"sessionId": session, "targetInfo": info(target_id, **more), "waitingForDebugger": waiting}
        self.event("Target.attachedToTarget", params, parent)

    def methods(self) -> list[tuple[str, str]]:
        """Method and session of each command that Chromium has received."""
        return [(each["method"], each.get("sessionId", "")) for each in self.to_browser]


def with_page(files: ClientFiles | None = None) -> FilteredClient:
    """A client with a session S of the page P, which it did not open."""
    client = FilteredClient(files=files)
    client.event("Target.targetCreated", {"targetInfo": info("P")})
    client.attach("P", "S")
    return client
