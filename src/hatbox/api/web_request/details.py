"""What listeners of webRequest and proxy are told of a request: the properties, and their order, are Firefox's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hatbox.web_requests.model import Headers, Moment, Proxy

__all__ = ["details", "proxy_details"]

_MAYBE_CACHED: Final = frozenset(
    {"onResponseStarted", "onHeadersReceived", "onBeforeRedirect", "onCompleted", "onErrorOccurred"}
)
_WITH_STATUS: Final = frozenset(
    {"onHeadersReceived", "onAuthRequired", "onBeforeRedirect", "onResponseStarted", "onCompleted"}
)


def details(event: str, moment: Moment, options: Sequence[str]) -> dict[str, Any]:
    """What a listener of an event of webRequest that asked for this is told."""
    told: dict[str, Any] = {"requestId": moment.request_id, "url": moment.url}
    if moment.document_url is not None:
        told |= {"originUrl": moment.document_url, "documentUrl": moment.document_url}
    told |= {
        "method": moment.method,
        "type": moment.type,
        "timeStamp": int(moment.time * 1000),
        "tabId": moment.place.tab_id,
        "frameId": 0,
        "parentFrameId": -1,
        "incognito": False,
        "thirdParty": False,
        "cookieStoreId": moment.place.cookie_store_id,
    }
    if event in _MAYBE_CACHED:
        told["fromCache"] = False
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
        told["requestBody"] = None  # engines send no body
    if event == "onAuthRequired" and (challenge := moment.challenge) is not None:
        told |= {"scheme": challenge.scheme, "realm": challenge.realm, "isProxy": challenge.is_proxy}
        told["challenger"] = {"host": challenge.host, "port": challenge.port}
    return told | {
        "proxyInfo": None if moment.proxy is None else _proxy_info(moment.proxy),
        "ip": moment.ip,
        "frameAncestors": [],
        "urlClassification": _unclassified(),
    }


def proxy_details(moment: Moment, options: Sequence[str]) -> dict[str, Any]:
    """What a listener of proxy.onRequest is told."""
    told: dict[str, Any] = {
        "requestId": moment.request_id,
        "url": moment.url,
        "method": moment.method,
        "type": moment.type,
        "fromCache": False,
        "incognito": False,
        "thirdParty": False,
    }
    if moment.document_url is not None:
        told |= {"originUrl": moment.document_url, "documentUrl": moment.document_url}
    told |= {
        "frameId": 0,
        "parentFrameId": -1,
        "frameAncestors": [],
        "timeStamp": int(moment.time * 1000),
        "tabId": moment.place.tab_id,
        "cookieStoreId": moment.place.cookie_store_id,
    }
    if "requestHeaders" in options:
        told["requestHeaders"] = _headers(moment.request_headers)
    return told | {"urlClassification": _unclassified()}


def _headers(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _proxy_info(proxy: Proxy) -> dict[str, Any]:
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
