"""The RFC's text as a program: a list of cookies, and each step as it is written. Slow, literal, and on its own.

Made from sections 5.1 to 5.8 of RFC 6265bis to be compared with the engine, of which it uses nothing. Where Hatbox
goes with both browsers against the text, the step says so. Hosts are lower-case names; the suffixes are handed in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EARLIEST = float("-inf")
AGE_LIMIT = 400 * 24 * 60 * 60
SAFE = {"GET", "HEAD", "OPTIONS", "TRACE"}


@dataclass
class ModelCookie:
    name: str
    value: str
    creation: int
    creation_time: float
    last_access: float
    expiry: float | None = None
    domain: str = ""
    host_only: bool = False
    path: str = ""
    secure: bool = False
    http_only: bool = False
    same_site: str = "Default"


@dataclass(frozen=True)
class Request:
    scheme: str
    host: str
    path: str
    site: str | None = None
    method: str = "GET"
    top_level: bool = False
    http: bool = True

    @property
    def secure(self) -> bool:
        return self.scheme == "https" or self.host == "localhost" or self.host.endswith(".localhost")


@dataclass
class Model:
    suffixes: set[str]
    cookies: list[ModelCookie] = field(default_factory=list)
    created: int = 0

    # 5.6: the set-cookie-string

    def receive(self, line: str, request: Request, now: float) -> None:
        for character in line:
            if (ord(character) < 0x20 and character != "\t") or ord(character) == 0x7F:
                return
        if ";" in line:
            at = line.index(";")
            pair, unparsed = line[:at], line[at:]
        else:
            pair, unparsed = line, ""
        if "=" not in pair:
            name, value = "", pair
        else:
            at = pair.index("=")
            name, value = pair[:at], pair[at + 1 :]
        name, value = wsp_removed(name), wsp_removed(value)
        if len(name) + len(value) > 4096:
            return
        attributes: list[tuple[str, object]] = []
        while unparsed:
            unparsed = unparsed[1:]
            at = unparsed.index(";") if ";" in unparsed else len(unparsed)
            av, unparsed = unparsed[:at], unparsed[at:]
            if "=" in av:
                at = av.index("=")
                attribute, said = av[:at], av[at + 1 :]
            else:
                attribute, said = av, ""
            attribute, said = wsp_removed(attribute), wsp_removed(said)
            if len(said) > 1024:
                continue
            attributes += self.process(attribute.lower(), said, request, now)
        self.store(name, value, attributes, request, now)

    def process(self, attribute: str, said: str, request: Request, now: float) -> list[tuple[str, object]]:
        if attribute == "max-age":
            digits = said.removeprefix("-")
            if not digits or any(character not in "0123456789" for character in digits):
                return []
            seconds = min(int(said), AGE_LIMIT)
            return [("Max-Age", EARLIEST if seconds <= 0 else now + seconds)]
        if attribute == "domain":
            return [("Domain", (said.removeprefix(".")).lower())]
        if attribute == "path":
            if said == "" or said[0] != "/":
                return [("Path", default_path_of(request.path)), ("Path as written", None)]
            return [("Path", said), ("Path as written", said)]
        if attribute == "secure":
            return [("Secure", "")]
        if attribute == "httponly":
            return [("HttpOnly", "")]
        if attribute == "samesite":
            return [("SameSite", {"none": "None", "strict": "Strict", "lax": "Lax"}.get(said.lower(), "Default"))]
        return []

    # 5.7: the storage model

    def store(self, name: str, value: str, attributes: list[tuple[str, object]], request: Request, now: float) -> None:
        self.evict_expired(now)

        def last(wanted: str, otherwise: object = None) -> object:
            values = [said for attribute, said in attributes if attribute == wanted]
            return values[-1] if values else otherwise

        has = {attribute for attribute, _ in attributes}
        if name == "" and value == "":
            return
        if name == "" and "=" in value:  # both browsers
            return
        cookie = ModelCookie(name, value, self.created, now, now)
        if "Max-Age" in has:
            expiry = last("Max-Age")
            assert isinstance(expiry, float)
            cookie.expiry = expiry
        domain = str(last("Domain", ""))
        if not domain.isascii():
            return
        if self.is_suffix(domain):
            if domain == request.host:
                domain = ""
            else:
                return
        if domain != "":
            if not domain_match(request.host, domain):
                return
            cookie.host_only, cookie.domain = False, domain
        else:
            cookie.host_only, cookie.domain = True, request.host
        cookie.path = str(last("Path", default_path_of(request.path)))
        cookie.secure = "Secure" in has
        if not request.secure and cookie.secure:
            return
        cookie.http_only = "HttpOnly" in has
        if not request.http and cookie.http_only:
            return
        if not cookie.secure and not request.secure:
            for other in self.cookies:
                if (
                    other.name == name
                    and other.secure
                    and (domain_match(other.domain, cookie.domain) or domain_match(cookie.domain, other.domain))
                    and path_match(cookie.path, other.path)
                ):
                    return
        cookie.same_site = str(last("SameSite", "Default"))
        if cookie.same_site != "None" and not self.is_same_site(request) and not (request.http and request.top_level):
            return
        if cookie.same_site == "None" and not cookie.secure:
            return
        lower = name.lower()
        host_like = cookie.secure and cookie.host_only and last("Path as written") == "/"
        http_like = cookie.secure and cookie.http_only
        if lower.startswith("__secure-") and not cookie.secure:
            return
        if lower.startswith("__host-") and not host_like:
            return
        if lower.startswith("__http-") and not http_like:  # layered cookies, and both browsers
            return
        if lower.startswith("__host-http-") and not (host_like and http_like):
            return
        if name == "" and value.lower().startswith(("__secure-", "__host-", "__http-")):
            return
        for old in list(self.cookies):
            if (old.name, old.domain, old.host_only, old.path) == (name, cookie.domain, cookie.host_only, cookie.path):
                if not request.http and old.http_only:
                    return
                cookie.creation, cookie.creation_time = old.creation, old.creation_time
                self.cookies.remove(old)
        self.created += 1
        self.cookies.append(cookie)
        self.evict_expired(now)

    def evict_expired(self, now: float) -> None:
        self.cookies = [cookie for cookie in self.cookies if cookie.expiry is None or cookie.expiry > now]

    # 5.8: the retrieval model

    def retrieve(self, request: Request, now: float) -> str:
        self.evict_expired(now)
        chosen = [cookie for cookie in self.cookies if self.goes_with(cookie, request, now)]
        chosen.sort(key=lambda cookie: cookie.creation)
        chosen.sort(key=lambda cookie: len(cookie.path), reverse=True)
        for cookie in chosen:
            cookie.last_access = now
        return "; ".join((f"{cookie.name}=" if cookie.name else "") + cookie.value for cookie in chosen)

    def goes_with(self, cookie: ModelCookie, request: Request, now: float) -> bool:
        if cookie.host_only:
            if request.host != cookie.domain:
                return False
        elif not domain_match(request.host, cookie.domain) or self.is_suffix(cookie.domain):
            return False
        if not path_match(request.path, cookie.path):
            return False
        if cookie.secure and not request.secure:
            return False
        if cookie.http_only and not request.http:
            return False
        if cookie.same_site == "None" or self.is_same_site(request):
            return True
        return (
            request.http
            and cookie.same_site in ("Lax", "Default")
            and (
                request.method in SAFE
                or (cookie.same_site == "Default" and now - cookie.creation_time <= 120)  # 5.6.7.2
            )
            and request.top_level
        )

    # 5.2: same-site requests

    def is_same_site(self, request: Request) -> bool:
        return request.site is None or request.site == f"{request.scheme}://{self.registrable(request.host)}"

    def registrable(self, host: str) -> str:
        labels = host.split(".")
        for first in range(len(labels)):
            if self.is_suffix(".".join(labels[first:])):
                return ".".join(labels[max(first - 1, 0) :])
        return host

    def is_suffix(self, domain: str) -> bool:
        return domain in self.suffixes


# 5.1: the subcomponents


def wsp_removed(text: str) -> str:
    while text and text[0] in " \t":
        text = text[1:]
    while text and text[-1] in " \t":
        text = text[:-1]
    return text


def domain_match(string: str, domain: str) -> bool:
    return string == domain or string.endswith("." + domain)


def default_path_of(uri_path: str) -> str:
    if uri_path == "" or uri_path[0] != "/" or uri_path.count("/") <= 1:
        return "/"
    at = len(uri_path) - 1
    while uri_path[at] != "/":
        at -= 1
    return uri_path[:at]


def path_match(request_path: str, cookie_path: str) -> bool:
    if cookie_path == request_path:
        return True
    if request_path[: len(cookie_path)] != cookie_path:
        return False
    return cookie_path[-1] == "/" or request_path[len(cookie_path)] == "/"
