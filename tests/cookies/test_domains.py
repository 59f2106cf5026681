from __future__ import annotations

from hatbox.cookies.domains import domain_matches


def test_a_host_matches_its_parents_at_a_dot() -> None:
    assert domain_matches("a.site.example", "a.site.example")
    assert domain_matches("a.site.example", "site.example")
    assert not domain_matches("asite.example", "site.example")
    assert not domain_matches("site.example", "a.site.example")


def test_an_address_matches_only_itself() -> None:
    assert domain_matches("1.2.3.4", "1.2.3.4")
    assert not domain_matches("1.2.3.4", "2.3.4")
    assert not domain_matches("1.2.3.4", "4")
