"""curl commands that a person can paste into a POSIX shell: a request with the cookies and settings of an identity.

Cookie values come from sites and may be hostile. Each argument is one word in quotes, and the command is printable
ASCII: bytes that a terminal could interpret, such as a TAB, are written as octal escapes of printf.
"""

from __future__ import annotations

import re
from typing import Final

from hatbox.clients.setting_headers import setting_headers
from hatbox.errors import ApiError
from hatbox.identity.settings import NO_SETTINGS, IdentitySettings
from hatbox.shell_words import shell_word

__all__ = ["curl_command"]

_MAX_COMMAND: Final = 100_000  # characters; Linux passes no argument of more than 128 KiB
_PRINTABLE: Final = re.compile(r"[\x20-\x7e]*")
_NOT_IN_HEADER: Final = re.compile(r"[\x00\r\n]")
_GLOB: Final = re.compile(r"[\[\]{}]")
_DEFAULT_AGENT: Final = "curl"


def curl_command(url: str, cookies: str, settings: IdentitySettings = NO_SETTINGS) -> str:
    """The command that requests a URL with a Cookie header (one character per byte) and the settings of an identity.

    Raises ApiError for a header that no request can have, and for one that is too long for a command.
    """
    if not url.startswith(("http://", "https://")) or not _PRINTABLE.fullmatch(url):
        raise ApiError(f"URL must start with http:// or https:// and be ASCII: {url[:80]!r}")
    words = ["curl", *(["--globoff"] if _GLOB.search(url) else []), shell_word(url)]
    # Not --cookie: a text without = would be the name of a file. An argument of -H is a file only if it starts with @.
    words += ["-H", _word(f"Cookie: {cookies}")] if cookies else []
    headers = setting_headers(settings, _DEFAULT_AGENT, _DEFAULT_AGENT, has_accept_language=False)
    for name, value in headers.items():
        words += ["-H", _word(f"{name}: {value}")]
    command = " ".join([*words, *_proxy_options(settings)])
    if len(command) > _MAX_COMMAND:
        raise ApiError(
            f"The cookies are too long for a command: {len(command):,} characters, and {_MAX_COMMAND:,} are possible. "
            "Export them as cookies.txt, and use: curl --cookie FILE"
        )
    return command


def _proxy_options(settings: IdentitySettings) -> list[str]:
    if settings.is_direct:
        return ["--noproxy", shell_word("*")]
    proxy = settings.proxy_url
    if proxy is None:
        return []
    text = proxy.server if proxy.password else proxy.text
    # The proxy resolves host names, as for all clients of the identity. curl's name for that is socks5h.
    options = ["--proxy", _word(text.replace("socks5://", "socks5h://", 1) if proxy.is_socks else text)]
    if proxy.password:  # curl asks for it: the command is shown, copied and stored in the history of the shell
        options += ["--proxy-user", _word(proxy.username)]
    return options


def _word(octets: str) -> str:
    """One word of a shell, of printable ASCII."""
    if _NOT_IN_HEADER.search(octets):
        raise ApiError("A header has no NUL, CR or LF")
    if _PRINTABLE.fullmatch(octets):
        return shell_word(octets)
    escaped = "".join(each if _is_literal(each) else "".join(map(_octal, each.encode("latin-1"))) for each in octets)
    return f"\"$(printf '{escaped}')\""


def _is_literal(character: str) -> bool:
    """Whether a character stands for itself, in single quotes and in a format of printf."""
    return " " <= character <= "~" and character not in "\\%'"


def _octal(byte: int) -> str:
    return f"\\{byte:03o}"
