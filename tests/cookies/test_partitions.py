from __future__ import annotations

import pytest

from hatbox.cookies import Partition
from hatbox.cookies.partitions import canonical_partition, is_foreign


@pytest.mark.parametrize(
    ("host", "site", "foreign"),
    [
        ("site.example", "https://site.example", False),
        ("a.site.example", "https://site.example", False),
        ("xsite.example", "https://site.example", True),
        ("other.example", "https://site.example", True),
        ("127.0.0.1", "http://127.0.0.1:8080", False),
        ("[::1]", "https://[::1]", False),
        ("[::1]", "https://[::1]:80", False),
        ("[::1]", "https://[::2]:80", True),
        ("localhost", "http://localhost:8080", False),
    ],
)
def test_a_host_is_of_the_site_or_foreign_to_it(host: str, site: str, foreign: bool) -> None:
    assert is_foreign(host, site) is foreign
    assert canonical_partition(Partition(site), host) == Partition(site, foreign)
    assert canonical_partition(Partition(site, True), host) == Partition(site, True)
