"""The types of webRequest and proxy."""

# ruff: noqa: N802, N803, N815 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, overload

from hatbox.api.typed.events import ScriptEventType

__all__ = [
    "CertificateTransparencyStatusType",
    "ChallengerDict",
    "ChosenProxyDict",
    "HttpHeaderDict",
    "OnAuthRequiredOptionsType",
    "OnBeforeRedirectOptionsType",
    "OnBeforeRequestOptionsType",
    "OnBeforeSendHeadersOptionsType",
    "OnCompletedOptionsType",
    "OnHeadersReceivedOptionsType",
    "OnResponseStartedOptionsType",
    "OnSendHeadersOptionsType",
    "ProxyErrorDict",
    "ProxyEventType",
    "ProxyNamespace",
    "ProxyRequestDetails",
    "RequestDetails",
    "RequestEventType",
    "RequestFilterDict",
    "ResourceTypeName",
    "ResourceTypeType",
    "TransportWeaknessReasonsType",
    "UrlClassificationFlagsType",
    "WebRequestNamespace",
]


ResourceTypeName: TypeAlias = Literal[
    "main_frame",
    "sub_frame",
    "stylesheet",
    "script",
    "image",
    "object",
    "xmlhttprequest",
    "xslt",
    "ping",
    "beacon",
    "xml_dtd",
    "font",
    "media",
    "websocket",
    "csp_report",
    "imageset",
    "web_manifest",
    "speculative",
    "json",
    "other",
]


class HttpHeaderDict(TypedDict):
    """A header."""

    name: str
    value: NotRequired[str]
    binaryValue: NotRequired[list[int]]


class RequestFilterDict(TypedDict):
    """The requests that a listener wants to hear of."""

    urls: Sequence[str]
    types: NotRequired[Sequence[ResourceTypeName] | None]
    tabId: NotRequired[int | None]
    windowId: NotRequired[int | None]
    incognito: NotRequired[bool | None]


class ChallengerDict(TypedDict):
    """Who wants to know who asks."""

    host: str
    port: int


class ChosenProxyDict(TypedDict):
    """The proxy of a request."""

    connectionIsolationKey: str | None
    failoverTimeout: int
    host: str
    port: int
    proxyAuthorizationHeader: str | None
    proxyDNS: bool
    type: str
    username: str


class ProxyRequestDetails(TypedDict):
    """What a listener of proxy.onRequest is told."""

    requestId: str
    url: str
    originUrl: NotRequired[str]
    documentUrl: NotRequired[str]
    method: str
    type: ResourceTypeName
    timeStamp: int
    tabId: int
    frameId: int
    parentFrameId: int
    incognito: bool
    thirdParty: bool
    cookieStoreId: str
    fromCache: NotRequired[bool]
    requestHeaders: NotRequired[list[HttpHeaderDict]]
    frameAncestors: list[Any]
    urlClassification: dict[str, list[str]]


class RequestDetails(ProxyRequestDetails):
    """What a listener of webRequest is told."""

    responseHeaders: NotRequired[list[HttpHeaderDict]]
    statusCode: NotRequired[int]
    statusLine: NotRequired[str]
    error: NotRequired[str]
    redirectUrl: NotRequired[str]
    requestBody: NotRequired[None]
    scheme: NotRequired[str]
    realm: NotRequired[str]
    isProxy: NotRequired[bool]
    challenger: NotRequired[ChallengerDict]
    proxyInfo: ChosenProxyDict | None
    ip: str | None


class RequestEventType(Protocol):
    """An event of webRequest. What a listener may answer is a dictionary, or a coroutine that returns one."""

    def addListener(
        self,
        listener: Callable[[RequestDetails], Any],
        wishes: RequestFilterDict,
        extraInfoSpec: Sequence[str] | None = None,
        /,
    ) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[RequestDetails], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[RequestDetails], Any], /) -> bool:
        """Whether a function is registered."""


class ProxyEventType(Protocol):
    """proxy.onRequest. A listener answers with a proxy, a list of them, nothing, or a coroutine that returns that."""

    def addListener(
        self,
        listener: Callable[[ProxyRequestDetails], Any],
        wishes: RequestFilterDict,
        extraInfoSpec: Sequence[Literal["requestHeaders"]] | None = None,
        /,
    ) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[ProxyRequestDetails], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[ProxyRequestDetails], Any], /) -> bool:
        """Whether a function is registered."""


class ResourceTypeType(Protocol):
    """What a request is for."""

    MAIN_FRAME: Literal["main_frame"]
    SUB_FRAME: Literal["sub_frame"]
    STYLESHEET: Literal["stylesheet"]
    SCRIPT: Literal["script"]
    IMAGE: Literal["image"]
    OBJECT: Literal["object"]
    XMLHTTPREQUEST: Literal["xmlhttprequest"]
    XSLT: Literal["xslt"]
    PING: Literal["ping"]
    BEACON: Literal["beacon"]
    XML_DTD: Literal["xml_dtd"]
    FONT: Literal["font"]
    MEDIA: Literal["media"]
    WEBSOCKET: Literal["websocket"]
    CSP_REPORT: Literal["csp_report"]
    IMAGESET: Literal["imageset"]
    WEB_MANIFEST: Literal["web_manifest"]
    SPECULATIVE: Literal["speculative"]
    JSON: Literal["json"]
    OTHER: Literal["other"]


class OnBeforeRequestOptionsType(Protocol):
    """What a listener of onBeforeRequest may ask for."""

    BLOCKING: Literal["blocking"]
    REQUESTBODY: Literal["requestBody"]


class OnBeforeSendHeadersOptionsType(Protocol):
    """What a listener of onBeforeSendHeaders may ask for."""

    REQUESTHEADERS: Literal["requestHeaders"]
    BLOCKING: Literal["blocking"]


class OnSendHeadersOptionsType(Protocol):
    """What a listener of onSendHeaders may ask for."""

    REQUESTHEADERS: Literal["requestHeaders"]


class OnHeadersReceivedOptionsType(Protocol):
    """What a listener of onHeadersReceived may ask for."""

    BLOCKING: Literal["blocking"]
    RESPONSEHEADERS: Literal["responseHeaders"]


class OnAuthRequiredOptionsType(Protocol):
    """What a listener of onAuthRequired may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]
    BLOCKING: Literal["blocking"]
    ASYNCBLOCKING: Literal["asyncBlocking"]


class CertificateTransparencyStatusType(Protocol):
    """Part of SecurityInfo, which Hatbox does not offer."""

    NOT_APPLICABLE: Literal["not_applicable"]
    POLICY_COMPLIANT: Literal["policy_compliant"]
    POLICY_NOT_ENOUGH_SCTS: Literal["policy_not_enough_scts"]
    POLICY_NOT_DIVERSE_SCTS: Literal["policy_not_diverse_scts"]


class TransportWeaknessReasonsType(Protocol):
    """Part of SecurityInfo, which Hatbox does not offer."""

    CIPHER: Literal["cipher"]


class UrlClassificationFlagsType(Protocol):
    """Which lists of trackers a URL is on. Hatbox has no such list and reports none."""

    FINGERPRINTING: Literal["fingerprinting"]
    FINGERPRINTING_CONTENT: Literal["fingerprinting_content"]
    CRYPTOMINING: Literal["cryptomining"]
    CRYPTOMINING_CONTENT: Literal["cryptomining_content"]
    EMAILTRACKING: Literal["emailtracking"]
    EMAILTRACKING_CONTENT: Literal["emailtracking_content"]
    TRACKING: Literal["tracking"]
    TRACKING_AD: Literal["tracking_ad"]
    TRACKING_ANALYTICS: Literal["tracking_analytics"]
    TRACKING_SOCIAL: Literal["tracking_social"]
    TRACKING_CONTENT: Literal["tracking_content"]
    ANY_BASIC_TRACKING: Literal["any_basic_tracking"]
    ANY_STRICT_TRACKING: Literal["any_strict_tracking"]
    ANY_SOCIAL_TRACKING: Literal["any_social_tracking"]
    CONSENTMANAGER: Literal["consentmanager"]
    ANTIFRAUD: Literal["antifraud"]


class OnResponseStartedOptionsType(Protocol):
    """What a listener of onResponseStarted may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]


class OnBeforeRedirectOptionsType(Protocol):
    """What a listener of onBeforeRedirect may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]


class OnCompletedOptionsType(Protocol):
    """What a listener of onCompleted may ask for."""

    RESPONSEHEADERS: Literal["responseHeaders"]


class WebRequestNamespace(Protocol):
    """`browser.webRequest`."""

    MAX_HANDLER_BEHAVIOR_CHANGED_CALLS_PER_10_MINUTES: int
    onBeforeRequest: RequestEventType
    onBeforeSendHeaders: RequestEventType
    onSendHeaders: RequestEventType
    onHeadersReceived: RequestEventType
    onAuthRequired: RequestEventType
    onResponseStarted: RequestEventType
    onBeforeRedirect: RequestEventType
    onCompleted: RequestEventType
    onErrorOccurred: RequestEventType
    ResourceType: ResourceTypeType
    OnBeforeRequestOptions: OnBeforeRequestOptionsType
    OnBeforeSendHeadersOptions: OnBeforeSendHeadersOptionsType
    OnSendHeadersOptions: OnSendHeadersOptionsType
    OnHeadersReceivedOptions: OnHeadersReceivedOptionsType
    OnAuthRequiredOptions: OnAuthRequiredOptionsType
    OnResponseStartedOptions: OnResponseStartedOptionsType
    OnBeforeRedirectOptions: OnBeforeRedirectOptionsType
    OnCompletedOptions: OnCompletedOptionsType
    CertificateTransparencyStatus: CertificateTransparencyStatusType
    TransportWeaknessReasons: TransportWeaknessReasonsType
    UrlClassificationFlags: UrlClassificationFlagsType

    @overload
    def handlerBehaviorChanged(self, callback: None = None) -> Awaitable[None]: ...
    @overload
    def handlerBehaviorChanged(self, callback: Callable[..., Any]) -> None: ...


class ProxyErrorDict(TypedDict):
    """What was wrong with the answer of a listener."""

    message: str
    fileName: str
    lineNumber: int
    stack: str


class ProxyNamespace(Protocol):
    """`browser.proxy`."""

    onRequest: ProxyEventType
    onError: ScriptEventType[ProxyErrorDict]
