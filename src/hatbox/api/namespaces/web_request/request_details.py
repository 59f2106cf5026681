"""The details object of webRequest and proxy listeners. Properties and their order match Firefox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hatbox.web_requests.request_model import Headers, ProxyInfo, RequestBody, RequestSnapshot

__all__ = ["details", "proxy_details"]

_MAYBE_CACHED: Final = frozenset(
    {"onResponseStarted", "onHeadersReceived", "onBeforeRedirect", "onCompleted", "onErrorOccurred"}
)
_WITH_STATUS: Final = frozenset(
    {"onHeadersReceived", "onAuthRequired", "onBeforeRedirect", "onResponseStarted", "onCompleted"}
)


def details(event: str, snapshot: RequestSnapshot, options: Sequence[str]) -> dict[str, Any]:
    """The details of an event of webRequest. `options` is the listener's extraInfoSpec."""
    result: dict[str, Any] = {"requestId": snapshot.request_id, "url": snapshot.url, **_origins(snapshot)}
    result |= {
        "method": snapshot.method,
        "type": snapshot.type,
        "timeStamp": int(snapshot.time * 1000),
        "tabId": snapshot.place.tab_id,
        "frameId": snapshot.place.frame_id,
        "parentFrameId": snapshot.place.parent_frame_id,
        "incognito": False,
        "thirdParty": snapshot.is_third_party,
        "cookieStoreId": snapshot.place.cookie_store_id,
    }
    if event in _MAYBE_CACHED:
        result["fromCache"] = snapshot.from_cache
    if "requestHeaders" in options:
        result["requestHeaders"] = _headers(snapshot.request_headers)
    if "responseHeaders" in options and snapshot.response_headers is not None:
        result["responseHeaders"] = _headers(snapshot.response_headers)
    if event in _WITH_STATUS:
        result |= {"statusCode": snapshot.status_code, "statusLine": snapshot.status_line}
    if snapshot.error is not None:
        result["error"] = snapshot.error
    if snapshot.redirect_url is not None:
        result["redirectUrl"] = snapshot.redirect_url
    if "requestBody" in options:
        result["requestBody"] = None if snapshot.body is None else _body(snapshot.body)
    if event == "onAuthRequired" and (challenge := snapshot.challenge) is not None:
        result |= {"scheme": challenge.scheme, "realm": challenge.realm, "isProxy": challenge.is_proxy}
        result["challenger"] = {"host": challenge.host, "port": challenge.port}
    return result | {
        "proxyInfo": None if snapshot.proxy is None else _proxy_info(snapshot.proxy),
        "ip": snapshot.ip,
        "frameAncestors": _ancestors(snapshot),
        "urlClassification": _unclassified(),
    }


def proxy_details(snapshot: RequestSnapshot, options: Sequence[str]) -> dict[str, Any]:
    """The details of proxy.onRequest."""
    result: dict[str, Any] = {
        "requestId": snapshot.request_id,
        "url": snapshot.url,
        "method": snapshot.method,
        "type": snapshot.type,
        "fromCache": False,
        "incognito": False,
        "thirdParty": snapshot.is_third_party,
        **_origins(snapshot),
        "frameId": snapshot.place.frame_id,
        "parentFrameId": snapshot.place.parent_frame_id,
        "frameAncestors": _ancestors(snapshot),
        "timeStamp": int(snapshot.time * 1000),
        "tabId": snapshot.place.tab_id,
        "cookieStoreId": snapshot.place.cookie_store_id,
    }
    if "requestHeaders" in options:
        result["requestHeaders"] = _headers(snapshot.request_headers)
    return result | {"urlClassification": _unclassified()}


def _origins(snapshot: RequestSnapshot) -> dict[str, str]:
    origin = snapshot.origin_url or snapshot.document_url
    result = {} if origin is None else {"originUrl": origin}
    return result if snapshot.document_url is None else result | {"documentUrl": snapshot.document_url}


def _ancestors(snapshot: RequestSnapshot) -> list[dict[str, Any]]:
    return [{"url": url, "frameId": frame_id} for frame_id, url in snapshot.place.ancestors]


def _body(body: RequestBody) -> dict[str, Any]:
    """Bytes are bytes here, and an ArrayBuffer where a listener is JavaScript."""
    if body.error:
        return {"error": body.error}
    if body.form is not None:
        return {"formData": body.form}
    return {"raw": [{"bytes": part} for part in body.raw]}


def _headers(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _proxy_info(proxy: ProxyInfo) -> dict[str, Any]:
    return {
        "connectionIsolationKey": proxy.isolation_key,
        "failoverTimeout": proxy.failover_timeout,
        "host": proxy.host,
        "port": proxy.port,
        "proxyAuthorizationHeader": proxy.authorization,
        "proxyDNS": proxy.proxy_dns,
        "type": proxy.type,
        "username": proxy.username if proxy.type.startswith("socks") else "",
    }


def _unclassified() -> dict[str, list[str]]:
    """Tracking protection lists are not supported."""
    return {"firstParty": [], "thirdParty": []}
