"""What listeners of webRequest and proxy are told of a request: the properties, and their order, are Firefox's."""

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


def details(event: str, moment: RequestSnapshot, options: Sequence[str]) -> dict[str, Any]:
    """What a listener of an event of webRequest that asked for this is told."""
    told: dict[str, Any] = {"requestId": moment.request_id, "url": moment.url, **_origins(moment)}
    told |= {
        "method": moment.method,
        "type": moment.type,
        "timeStamp": int(moment.time * 1000),
        "tabId": moment.place.tab_id,
        "frameId": moment.place.frame_id,
        "parentFrameId": moment.place.parent_frame_id,
        "incognito": False,
        "thirdParty": moment.is_third_party,
        "cookieStoreId": moment.place.cookie_store_id,
    }
    if event in _MAYBE_CACHED:
        told["fromCache"] = moment.from_cache
    if "requestHeaders" in options:
        told["requestHeaders"] = _headers(moment.request_headers)
    if "responseHeaders" in options and moment.response_headers is not None:
        told["responseHeaders"] = _headers(moment.response_headers)
    if event in _WITH_STATUS:
        told |= {"statusCode": moment.status_code, "statusLine": moment.status_line}
    if moment.error is not None:
        told["error"] = moment.error
    if moment.redirect_url is not None:
        told["redirectUrl"] = moment.redirect_url
    if "requestBody" in options:
        told["requestBody"] = None if moment.body is None else _body(moment.body)
    if event == "onAuthRequired" and (challenge := moment.challenge) is not None:
        told |= {"scheme": challenge.scheme, "realm": challenge.realm, "isProxy": challenge.is_proxy}
        told["challenger"] = {"host": challenge.host, "port": challenge.port}
    return told | {
        "proxyInfo": None if moment.proxy is None else _proxy_info(moment.proxy),
        "ip": moment.ip,
        "frameAncestors": _ancestors(moment),
        "urlClassification": _unclassified(),
    }


def proxy_details(moment: RequestSnapshot, options: Sequence[str]) -> dict[str, Any]:
    """What a listener of proxy.onRequest is told."""
    told: dict[str, Any] = {
        "requestId": moment.request_id,
        "url": moment.url,
        "method": moment.method,
        "type": moment.type,
        "fromCache": False,
        "incognito": False,
        "thirdParty": moment.is_third_party,
        **_origins(moment),
        "frameId": moment.place.frame_id,
        "parentFrameId": moment.place.parent_frame_id,
        "frameAncestors": _ancestors(moment),
        "timeStamp": int(moment.time * 1000),
        "tabId": moment.place.tab_id,
        "cookieStoreId": moment.place.cookie_store_id,
    }
    if "requestHeaders" in options:
        told["requestHeaders"] = _headers(moment.request_headers)
    return told | {"urlClassification": _unclassified()}


def _origins(moment: RequestSnapshot) -> dict[str, str]:
    origin = moment.origin_url or moment.document_url
    told = {} if origin is None else {"originUrl": origin}
    return told if moment.document_url is None else told | {"documentUrl": moment.document_url}


def _ancestors(moment: RequestSnapshot) -> list[dict[str, Any]]:
    return [{"url": url, "frameId": frame_id} for frame_id, url in moment.place.ancestors]


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
    """There is no list of trackers here."""
    return {"firstParty": [], "thirdParty": []}
