"""A page that tries to reach a server in every way that a page has. Served to a browser by a proxy."""

from __future__ import annotations

from typing import Final

ATTEMPTS: Final = frozenset(
    (
        *("img", "fetch", "keepalive", "beacon", "sse", "iframe", "script", "style", "prefetch", "preload", "nested"),
        *("modulepreload", "worker", "shared", "service", "icon", "ping", "video", "object", "track", "popup"),
    )
)
"""Each requests `/from/NAME`. Others have no path: a WebSocket (in a tunnel), preconnect, dns-prefetch, WebRTC.

Speculation rules request nothing: Hatbox disables them.
"""

LEAK_PAGE: Final = """<!doctype html><meta charset=utf-8><title>leaks</title>
<link rel=icon href=/from/icon>
<link rel=prefetch href=/from/prefetch><link rel=preload as=image href=/from/preload>
<link rel=modulepreload href=/from/modulepreload><link rel=stylesheet href=/from/style>
<link rel=preconnect href=http://preconnect.test:PORT><link rel=preconnect href=http://127.0.0.1:PORT>
<link rel=dns-prefetch href=//dns-prefetch.test>
<script type=speculationrules>{"prefetch":[{"source":"list","urls":["/from/spec"],"eagerness":"immediate"}],
  "prerender":[{"source":"list","urls":["/from/prerender"],"eagerness":"immediate"}]}</script>
<img src=/from/img><iframe src=/from/iframe></iframe><script src=/from/script async></script>
<video src=/from/video preload=auto><track default src=/from/track></video><object data=/from/object></object>
<iframe srcdoc="<img src=http://127.0.0.1:PORT/from/nested>"></iframe>
<a id=ping href=#here ping=/from/ping>ping</a>
<script>
const out = [];
const attempt = async (work) => { try { await work(); } catch (error) { out.push(String(error)); } };
attempt(() => fetch("/from/fetch"));
attempt(() => fetch("/from/keepalive", { keepalive: true, method: "POST", body: "x" }));
attempt(() => navigator.sendBeacon("/from/beacon", "x"));
attempt(() => new WebSocket("ws://127.0.0.1:PORT/from/ws"));
attempt(() => new EventSource("/from/sse"));
attempt(() => fetch("http://fetched.test:PORT/from/other", { mode: "no-cors" }));
attempt(() => new Worker("/worker.js"));
attempt(() => new SharedWorker("/worker.js?shared"));
attempt(() => navigator.serviceWorker.register("/worker.js?service"));
attempt(() => new WebTransport("https://127.0.0.1:PORT/from/webtransport").ready);
attempt(() => document.querySelector("#ping").click());
addEventListener("pagehide", () => navigator.sendBeacon("/from/pagehide", "x"));
const stun = "stun:127.0.0.1:PORT";
const turn = { urls: "turn:turn.test:PORT?transport=tcp", username: "u", credential: "c" };
window.connect = async (scope) => {
  const peer = new scope.RTCPeerConnection({ iceServers: [{ urls: stun }, { urls: "stun:stun.test:PORT" }, turn] });
  peer.createDataChannel("x");
  await peer.setLocalDescription(await peer.createOffer());
};
attempt(() => connect(window));
attempt(() => connect(document.querySelector("iframe[srcdoc]").contentWindow));
</script>"""

WORKER: Final = """const name = location.search.slice(1) || "worker"; fetch(`/from/${name}`);
self.oninstall = () => self.skipWaiting();"""
