"""Modules of Sites and of the cookies of an identity that need no page."""

from __future__ import annotations

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno

SITES = """[
    {host: "b.example", identities: [entry("work", 5), entry("home", null)]},
    {host: "a.example", identities: [entry("work", null)]},
    {host: "c.example", identities: [entry("work", 5), entry("home", 6)]},
]"""
START = f"""const entry = (cookieStoreId, signedInSince) => ({{cookieStoreId, signedInSince, lastUsed: 1, cookies: 2}});
    const index = new SiteIndex(); index.set({SITES});
    const shown = (rows) => rows.map((row) => [row.host, ...row.signedIn.map((e) => e.cookieStoreId)].join(" "));
"""


def test_sites_with_most_sign_ins_come_first() -> None:
    body = f"{START} return shown(index.rows());"
    assert value_of("site_index.js", "SiteIndex", body) == ["c.example work home", "b.example work", "a.example"]


def test_a_change_replaces_the_sites_of_one_identity() -> None:
    body = f"""{START}
        index.replace(["work"], [{{host: "d.example", identities: [entry("work", 9)]}}]);
        const before = shown(index.rows());
        index.replace(["work", "home", "gone"], []);
        return [before, index.rows().length, index.hosts.size, index.byIdentity.size];"""
    assert value_of("site_index.js", "SiteIndex", body) == [
        ["c.example home", "d.example work", "b.example"],
        0,
        0,
        0,
    ]


def test_a_search_finds_sites_and_identities_and_shows_the_identity_first() -> None:
    body = f"""{START} return [
        shown(index.find("b.ex", new Set())),
        shown(index.find("home", new Set(["home"]))),
        index.of("work").map((site) => site.host),
    ];"""
    assert value_of("site_index.js", "SiteIndex", body) == [
        ["b.example work"],
        ["c.example home work", "b.example work"],
        ["b.example", "c.example", "a.example"],
    ]


def test_as_many_chips_are_shown_as_fit_and_at_least_one() -> None:
    body = """const labels = Array(5).fill({name: "Personal", since: "since 6 Feb"});
        return [0, 200, 500, 5000].map((space) => chipsThatFit(labels, space, 5)).concat(
            chipsThatFit([{name: "x".repeat(200), since: ""}], 100, 1), chipsThatFit(labels, 5000, 900),
            chipsThatFit(labels, 500, 5, 1.5));"""
    assert value_of("screens/chip_fit.js", "chipsThatFit", body) == [1, 1, 2, 5, 1, 5, 1]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("undoText({restored: 3, superseded: 0})", ""),
        (
            "undoText({restored: 2, superseded: 1})",
            "2 cookies are as before. 1 cookie was set again and stays as it is.",
        ),
        ("undoText({restored: 0, superseded: 2})", "2 cookies were set again and stay as they are."),
        (
            "removedText(3, {host: 'forge.example', signedInSince: 5, siteData: 0}, 'Work')",
            "Deleted 3 cookies of forge.example. Work is signed out there.",
        ),
        (
            "removedText(1, {host: 'news.example', signedInSince: null, siteData: 0}, 'Work')",
            "Deleted 1 cookie of news.example.",
        ),
        (
            "removedText(1, {host: 'news.example', signedInSince: 5, siteData: 9}, 'Work')",
            "Deleted 1 cookie of news.example. Its site data stays.",
        ),
        (
            "emptiedText(2, {host: 'news.example', signedInSince: 5}, 'Work')",
            "Deleted 2 cookies and the site data of news.example. Work is signed out there.",
        ),
        (
            "emptiedText(0, {host: 'news.example', signedInSince: null}, 'Work')",
            "Deleted the site data of news.example.",
        ),
        ("allRemovedText([{siteData: 0}], 'Work')", "Deleted all cookies of Work. It is signed out everywhere."),
        ("allRemovedText([{siteData: 9}], 'Work')", "Deleted all cookies of Work. Site data of 1 site stays."),
        (
            "summaryText([{signedInSince: 5, cookies: 2, siteData: 12000}, "
            "{signedInSince: null, cookies: 0, siteData: 300}])",
            "Signed in on 1 site. 2 cookies on 1 site and 12 KB of site data, which no other identity sees.",
        ),
        (
            "importText('cookies.txt', 'Work', {added: 13, changed: 1, unchanged: 2, origins: 0, "
            "leftOut: [{what: 'expired cookies', count: 1}]})",
            "cookies.txt: 14 cookies imported into Work, 2 unchanged. Left out: expired cookies (1).",
        ),
        (
            "importText('cookies.txt', 'Work', {added: 0, changed: 0, unchanged: 2, origins: 0, leftOut: []})",
            "cookies.txt: Work has all its cookies already.",
        ),
        (
            "[{unchanged: 0}, {unchanged: 1}].map((each) => isNothingImported({added: 0, changed: 0, origins: 0, "
            "...each})).join()",
            "true,false",
        ),
        (
            "nothingImportedText('tld.txt', 'Work', {leftOut: [{what: 'expired cookies', count: 3}]})",
            "tld.txt: no cookie was imported into Work. Left out: expired cookies (3).",
        ),
        (
            "flagsText({secure: true, httpOnly: false, sameSite: 'unspecified', "
            "partitionKey: {topLevelSite: 'https://top.example'}})",
            "Secure, only within top.example",
        ),
        ("domainText({hostOnly: true, domain: 'a.b.example', site: 'b.example'})", "a.b.example only"),
        ("domainText({hostOnly: false, domain: 'b.example', site: 'b.example'})", ""),
        ("summaryText([])", ""),
    ],
)
def test_the_words_say_what_was_done(call: str, text: str) -> None:
    names = "undoText, removedText, emptiedText, allRemovedText, importText, flagsText, domainText, summaryText"
    names += ", isNothingImported, nothingImportedText"
    assert value_of("identity_tabs/cookie_texts.js", names, f"return {call};") == text
