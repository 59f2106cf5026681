"""URLs and rule sets with the expected winner, as data: 16 rule sets, more than 200 URLs."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["CASES", "RULE_SETS", "Case"]


class Case(NamedTuple):
    """A URL, and the pattern that decides it in a rule set; empty if none does."""

    rules: str
    url: str
    winner: str


RULE_SETS: Final[dict[str, tuple[str, ...]]] = {
    "none": (),
    "github": ("*.github.com", "github.com/work-org/*", "gist.github.com", "github.com/work-org/private/*"),
    "ports": ("localhost", "localhost:8080", "localhost:8080/admin/*", "localhost/admin/panel/*", "127.0.0.1:3000"),
    "schemes": ("https://bank.example", "http://bank.example", "bank.example/public/*", "https://*.bank.example"),
    "wildcards": ("*.example", "*.a.example", "*.b.a.example", "a.example", "*"),
    "paths": ("s.example/a*", "s.example/a/b*", "s.example/*/c", "s.example/a/b/c", "s.example/*x*y", "s.example/?q=*"),
    "ipv6": ("[::1]", "[2001:db8::1]:8443", "[::ffff:1.2.3.4]/x*"),
    "ipv4": ("127.0.0.1", "10.0.0.1/a*", "0x7f.2"),
    "idna": ("bücher.example", "*.straße.example", "例え.テスト/道*"),
    "encoding": ("s.example/job/*", "s.example/caf%C3%A9", "s.example/a%2Fb", "s.example/a%20b"),
    "regex": ("regex:^https://git[0-9]+[.]corp[.]example/", "regex:corp", "git1.corp.example/exact"),
    "regex-order": ("regex:example/a", "regex:example", "regex:(?i)UPPER"),
    "dots": ("dot.example", "*.sub.dot.example"),
    "query": ("q.example/s?user=work*", "q.example/s", "q.example/s?*"),
    "everything": ("*", "*:8443", "https://*", "regex:special"),
    "ties": ("t.example/a*c", "t.example/ab*", "t.example/a*bc", "https://t.example/ab*", "t.example/*bc"),
}

_TABLE: Final = """
none
  https://github.com/                               -
  about:blank                                       -
  not a url                                         -
  -                                                 -
github
  https://github.com/                               *.github.com
  http://github.com/                                *.github.com
  https://github.com                                *.github.com
  https://GITHUB.COM/                               *.github.com
  HTTPS://github.com/work-org/x                     github.com/work-org/*
  https://github.com/work-org/                      github.com/work-org/*
  https://github.com/work-org                       *.github.com
  https://github.com/work-orgs/x                    *.github.com
  https://github.com/Work-Org/x                     *.github.com
  https://github.com/work-org/private/x             github.com/work-org/private/*
  https://github.com/work-org/private               github.com/work-org/*
  https://github.com/work-org/x?y=1#z               github.com/work-org/*
  https://github.com//work-org/x                    *.github.com
  https://gist.github.com/                          gist.github.com
  https://gist.github.com/work-org/x                gist.github.com
  https://a.gist.github.com/                        *.github.com
  https://www.github.com/work-org/x                 *.github.com
  https://a.b.c.github.com/                         *.github.com
  https://github.com:444/work-org/x                 github.com/work-org/*
  https://github.com:443/work-org/x                 github.com/work-org/*
  https://github.com./work-org/x                    github.com/work-org/*
  https://gist.github.com./                         gist.github.com
  https://github.com../                             -
  https://notgithub.com/                            -
  https://github.com.evil.example/                  -
  https://evil.example/github.com                   -
  https://evil.example/?github.com/work-org/x       -
  https://evil.example/#@github.com/                -
  https://github.com@evil.example/                  -
  https://github.com:443@evil.example/work-org/x    -
  https://evil.example@github.com/work-org/x        github.com/work-org/*
  https://evil.example:pw@github.com/               *.github.com
  https://a@b@github.com/                           *.github.com
  https://evil.example\\@github.com/                -
  https://github.com\\@evil.example/                *.github.com
  https:\\\\github.com\\work-org\\x                 github.com/work-org/*
  https:/github.com/work-org/x                      github.com/work-org/*
  https:github.com/work-org/x                       github.com/work-org/*
  https:////github.com/work-org/x                   github.com/work-org/*
  http:/\\\\github.com/work-org/x                   github.com/work-org/*
  https://github.com/a/../work-org/x                github.com/work-org/*
  https://github.com/./work-org/x                   github.com/work-org/*
  https://github.com/a/%2e%2E/work-org/x            github.com/work-org/*
  https://github.com/%2e/work-org/x                 github.com/work-org/*
  https://github.com/work-org/../x                  *.github.com
  https://github.com/work-org/private/../x          github.com/work-org/*
  https://github.com/%77ork-org/x                   github.com/work-org/*
  https://github.com/w%6Frk-org/x                   github.com/work-org/*
  https://github.com/work%2Dorg/x                   github.com/work-org/*
  https://github.com/work-org%2Fx                   *.github.com
  https://github.com/work-org%5Cx                   *.github.com
  https://git%68ub.com/work-org/x                   github.com/work-org/*
  https://git%2568ub.com/                           -
  https://ｇｉｔｈｕｂ.com/work-org/x                    github.com/work-org/*
  https://github。com/work-org/x                     github.com/work-org/*
  https://g\u00adithub.com/                         *.github.com
  https://github.com:99999/                         -
  https://github.com:x/                             -
  https://github.com:/work-org/x                    github.com/work-org/*
  https://git hub.com/                              -
  ftp://github.com/work-org/x                       -
  ws://github.com/work-org/x                        -
  wss://github.com/                                 -
  file:///github.com/work-org/x                     -
  data:text/html,github.com                         -
  javascript:github.com                             -
  blob:https://github.com/x                         -
  view-source:https://github.com/                   -
  about:github.com                                  -
  moz-extension://github.com/                       -
  github.com/work-org/x                             -
  //github.com/                                     -
  https://                                          -
  https:///                                         -
  https://.github.com/                              -
ports
  http://localhost/                                 localhost
  http://localhost:80/                              localhost
  http://localhost:8080/                            localhost:8080
  https://localhost:8080/                           localhost:8080
  http://localhost:08080/                           localhost:8080
  http://localhost:8080/admin/x                     localhost:8080/admin/*
  http://localhost:8080/admin/panel/x               localhost:8080/admin/*
  http://localhost:81/admin/panel/x                 localhost/admin/panel/*
  http://localhost:81/admin/x                       localhost
  http://localhost./                                localhost
  http://a.localhost/                               -
  http://127.0.0.1:3000/                            127.0.0.1:3000
  http://127.0.0.1/                                 -
  http://127.1:3000/                                127.0.0.1:3000
  http://2130706433:3000/                           127.0.0.1:3000
  http://0x7f000001:3000/                           127.0.0.1:3000
  http://0177.0.0.1:3000/x                          127.0.0.1:3000
  http://127.0.0.1.:3000/                           127.0.0.1:3000
  http://[::1]:3000/                                -
schemes
  https://bank.example/                             https://bank.example
  http://bank.example/                              http://bank.example
  https://bank.example/public/x                     bank.example/public/*
  http://bank.example/public/x                      bank.example/public/*
  https://bank.example:444/                         https://bank.example
  https://www.bank.example/                         https://*.bank.example
  http://www.bank.example/                          -
  https://www.bank.example/public/x                 https://*.bank.example
wildcards
  https://example/                                  *.example
  https://x.example/                                *.example
  https://a.example/                                a.example
  https://x.a.example/                              *.a.example
  https://b.a.example/                              *.b.a.example
  https://c.b.a.example/                            *.b.a.example
  https://d.c.b.a.example/                          *.b.a.example
  https://xa.example/                               *.example
  https://xb.a.example/                             *.a.example
  https://other.test/                               *
  http://127.0.0.1/                                 *
  http://[::1]/                                     *
  https://a.example./                               a.example
  about:blank                                       -
paths
  https://s.example/                                -
  https://s.example/a                               s.example/a*
  https://s.example/abc                             s.example/a*
  https://s.example/a/b                             s.example/a/b*
  https://s.example/a/bc                            s.example/a/b*
  https://s.example/a/c                             s.example/*/c
  https://s.example/z/c                             s.example/*/c
  https://s.example/z/y/c                           s.example/*/c
  https://s.example/c                               -
  https://s.example/a/b/c                           s.example/a/b/c
  https://s.example/a/b/c/                          s.example/a/b*
  https://s.example/a/b/c?                          s.example/a/b/c
  https://s.example/a/b/c?x                         s.example/a/b*
  https://s.example/a/b/c#x                         s.example/a/b/c
  https://s.example/xy                              s.example/*x*y
  https://s.example/1x2y                            s.example/*x*y
  https://s.example/yx                              -
  https://s.example/axy                             s.example/*x*y
  https://s.example/a/b/xy                          s.example/a/b*
  https://s.example/?q=1                            s.example/?q=*
  https://s.example?q=1                             s.example/?q=*
  https://s.example/?p=1&q=1                        -
  https://s.example/?q=xy                           s.example/?q=*
ipv6
  http://[::1]/                                     [::1]
  http://[0:0:0:0:0:0:0:1]/                         [::1]
  http://[0::1]:99/x                                [::1]
  https://[2001:DB8::1]:8443/                       [2001:db8::1]:8443
  https://[2001:0db8:0:0::1]:8443/                  [2001:db8::1]:8443
  https://[2001:db8::1]/                            -
  http://[::ffff:102:304]/xy                        [::ffff:102:304]/x*
  http://[::ffff:1.2.3.4]/xy                        [::ffff:102:304]/x*
  http://[::ffff:1.2.3.4]/y                         -
  http://1.2.3.4/xy                                 -
  http://[::1/                                      -
  http://[::g]/                                     -
  http://[]/                                        -
ipv4
  http://127.0.0.1/                                 127.0.0.1
  http://0x7f.1/                                    127.0.0.1
  http://127.0.0.2/                                 127.0.0.2
  http://127.2/                                     127.0.0.2
  http://10.1/a                                     10.0.0.1/a*
  http://10.0.0.1/b                                 -
  http://x.127.0.0.1/                               -
  http://127.0.0.1.example/                         -
  http://256.0.0.1/                                 -
idna
  https://bücher.example/                           xn--bcher-kva.example
  https://BÜCHER.example/                           xn--bcher-kva.example
  https://xn--bcher-kva.example/                    xn--bcher-kva.example
  https://XN--BCHER-KVA.example/                    xn--bcher-kva.example
  https://bu\u0308cher.example/                     xn--bcher-kva.example
  https://bucher.example/                           -
  https://b%C3%BCcher.example/                      xn--bcher-kva.example
  https://straße.example/                           *.xn--strae-oqa.example
  https://www.straße.example/                       *.xn--strae-oqa.example
  https://strasse.example/                          -
  https://例え.テスト/道                              xn--r8jz45g.xn--zckzah/%E9%81%93*
  https://xn--r8jz45g.xn--zckzah/%e9%81%93/1        xn--r8jz45g.xn--zckzah/%E9%81%93*
  https://例え.テスト/                                -
encoding
  https://s.example/job/x                          s.example/job/*
  https://s.example/%6a%6f%62/x                  s.example/job/*
  https://s.example/work%2fx                        -
  https://s.example/café                            s.example/caf%C3%A9
  https://s.example/caf%c3%a9                       s.example/caf%C3%A9
  https://s.example/caf%E9                          -
  https://s.example/a/b                             -
  https://s.example/a%2fb                           s.example/a%2Fb
  https://s.example/a%2Fb                           s.example/a%2Fb
  https://s.example/a%20b                           s.example/a%20b
  https://s.example/a b                             s.example/a%20b
  https://s.example/jo<TAB>b/x                         s.example/job/*
  https://s.ex<LF>ample/job/x                        s.example/job/*
  <SP>https://s.example/job/x                    s.example/job/*
  https://s.example/job/%                          s.example/job/*
  https://s.example/job/%zz                        s.example/job/*
  https://s.example/%                               -
  https://s.example/job/\ud800                     s.example/job/*
regex
  https://git1.corp.example/                        regex:^https://git[0-9]+[.]corp[.]example/
  https://git22.corp.example/x                      regex:^https://git[0-9]+[.]corp[.]example/
  https://git1.corp.example/exact                   git1.corp.example/exact
  http://git1.corp.example/                         regex:corp
  https://git.corp.example/                         regex:corp
  https://GIT1.CORP.example/                        regex:^https://git[0-9]+[.]corp[.]example/
  https://user:corp@other.example/                  -
  https://other.example/#corp                       -
  https://other.example/?corp                       regex:corp
  https://git1.corp.example:8443/                   regex:corp
  https://git1.corp.example:443/                    regex:^https://git[0-9]+[.]corp[.]example/
  https://git1.corp.example./                       regex:^https://git[0-9]+[.]corp[.]example/
  data:corp                                         -
regex-order
  https://x.example/a                               regex:example/a
  https://x.example/b                               regex:example
  https://x.test/upper                              regex:(?i)UPPER
  https://x.test/                                   -
dots
  https://dot.example/                              dot.example
  https://dot.example./                             dot.example
  https://dot.example../                            -
  https://sub.dot.example./                         *.sub.dot.example
  https://a.sub.dot.example./                       *.sub.dot.example
  https://.dot.example/                             -
  https://a..dot.example/                           -
query
  https://q.example/s                               q.example/s
  https://q.example/s?                              q.example/s
  https://q.example/s?user=work                     q.example/s?user=work*
  https://q.example/s?user=work&x=1                 q.example/s?user=work*
  https://q.example/s?user=%77ork                   q.example/s?user=work*
  https://q.example/s?x=1                           q.example/s?*
  https://q.example/s?x=1#user=work                 q.example/s?*
  https://q.example/s/?user=work                    -
everything
  https://a.example/                                https://*
  http://a.example/                                 *
  https://a.example:8443/                           *:8443
  http://special.example/                           *
  http://[::1]:8443/                                *:8443
  ftp://a.example/                                  -
ties
  https://t.example/abc                             t.example/a*bc
  https://t.example/abx                             https://t.example/ab*
  http://t.example/abx                              t.example/ab*
  http://t.example/abc                              t.example/a*bc
  http://t.example/abbc                             t.example/a*bc
  http://t.example/axc                              t.example/a*c
  http://t.example/ab                               t.example/ab*
  http://t.example/xbc                              t.example/*bc
"""


def _cases() -> list[Case]:
    cases, rules = [], ""
    for line in _TABLE.strip().split("\n"):
        if not line.startswith(" "):
            rules = line
            continue
        url, _, winner = line.strip().rpartition(" ")
        unescaped = url.strip().replace("<SP>", " ").replace("<TAB>", "\t").replace("<LF>", "\n")
        cases.append(Case(rules, "" if unescaped == "-" else unescaped, "" if winner == "-" else winner))
    return cases


CASES: Final = _cases()
