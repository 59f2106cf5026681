"""Where `hatbox open` opens URLs, and `hatbox fetch` requests them: in the named identity, or as the rules decide."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from hatbox.cli.arguments.identity_arguments import find_store
from hatbox.cli.arguments.url_argument import parse_url_argument
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_line
from hatbox.errors import IdentityNotFound
from hatbox.identities.identity_choice import no_rule, shown_url
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.shell_words import shell_word
from hatbox.site_rules.site_rule import Decision
from hatbox.tabs.tab_model import BLANK

__all__ = ["OpenTarget", "find_targets", "name_of"]

# A word that is not the name of an identity is a URL if it has a scheme, a port, a dot or a path.
_LIKE_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.*|.*[./].*|\[.*|localhost", re.IGNORECASE | re.DOTALL)


class OpenTarget(NamedTuple):
    """URLs to open in one identity; None is the default store."""

    identity: ContextualIdentity | None
    urls: list[str]


async def find_targets(
    profile: Profile,
    identity_or_url: str,
    urls: Sequence[str],
    *,
    is_named: bool,
    as_json: bool,
    command: str = "open",
) -> list[OpenTarget]:
    """The identities and their URLs, in the order of the URLs. `urls` are complete; the first argument is as typed.

    The name of an identity is never read as a URL, nor the first argument if `is_named`, as in a link. Raises
    IdentityNotFound, and NoSiteRule for a URL without a rule.
    """
    try:
        named = await find_store(profile, identity_or_url)
    except IdentityNotFound:
        if is_named or not _LIKE_URL.fullmatch(identity_or_url.strip()):
            raise
    else:
        return [OpenTarget(named, list(urls) or [BLANK])]
    targets: list[OpenTarget] = []
    for url in [parse_url_argument(identity_or_url), *urls]:
        identity = await _decided(profile, url, command, as_json=as_json)
        if targets and targets[-1].identity == identity:
            targets[-1].urls.append(url)
        else:
            targets.append(OpenTarget(identity, [url]))
    return targets


def name_of(identity: ContextualIdentity | None) -> str:
    """The name of an identity, or the id of the default store."""
    return identity.name if identity else DEFAULT_COOKIE_STORE_ID


async def _decided(profile: Profile, url: str, command: str, *, as_json: bool) -> ContextualIdentity | None:
    decision = await profile.rules.decide(url)
    if decision.rule is None:
        raise no_rule(url)
    candidates = [await find_store(profile, each) for each in decision.identities]
    return candidates[0] if len(candidates) == 1 else _ask(url, command, decision, candidates, as_json=as_json)


def _ask(
    url: str, command: str, decision: Decision, candidates: Sequence[ContextualIdentity | None], *, as_json: bool
) -> ContextualIdentity | None:
    """Ask on the terminal, on standard error. Without a terminal, fail with a hint."""
    names = [name_of(each) for each in candidates]
    pattern = decision.rule.pattern if decision.rule else ""
    if as_json or not (sys.stdin and sys.stdin.isatty()):
        raise CommandError(
            "IdentityNotChosen",
            f"the rule {pattern} asks which identity opens {shown_url(url)}: {' or '.join(names)}. "
            f"Name one of them: hatbox {command} {shell_word(names[0])} URL",
            details={
                "candidates": [
                    {"name": name, "cookieStoreId": store}
                    for name, store in zip(names, decision.identities, strict=True)
                ]
            },
        )
    print_line(f"Which identity opens {shown_url(url)}?", sys.stderr)
    for number, name in enumerate(names, 1):
        print_line(f"  {number}  {name}", sys.stderr)
    while True:
        sys.stderr.write(f"Number or name [1-{len(names)}]: ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer.strip():
            sys.stderr.write("\n" if not answer else "")
            raise CommandError("Declined", "nothing was done: no identity was chosen")
        for number, name in enumerate(names, 1):
            if answer.strip() in (str(number), name):
                return candidates[number - 1]
