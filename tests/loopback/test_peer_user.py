"""The user of a connection, from written tables of sockets."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from hatbox.loopback.peer_user import UserCheck, is_of_this_user

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the tables")

OWN = os.getuid() if hasattr(os, "getuid") else 0
OTHER = OWN + 4242
CLIENT, SERVER = 50_000, 8080
HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def address(text: str, port: int) -> str:
    """An IPv4 address as in the table: the bytes are in the order of the machine."""
    return f"{int.from_bytes(bytes(map(int, text.split('.'))), sys.byteorder):08X}:{port:04X}"


def mapped(text: str, port: int) -> str:
    return f"{0:016X}{int.from_bytes(bytes((0, 0, 255, 255)), sys.byteorder):08X}{address(text, port)}"


def row(local: str, remote: str, user: int, state: str = "01") -> str:
    return f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000 {user:5} 0 12345 1 0 20 4 30 10 -1\n"


def is_own(tmp_path: Path, rows: list[str], rows6: list[str] | None = None) -> bool:
    tables = tmp_path / "tcp", tmp_path / "tcp6"
    for table, lines in zip(tables, (rows, rows6 or []), strict=True):
        table.write_text(HEADER + "".join(lines))
    return is_of_this_user(CLIENT, SERVER, tables)


def loopback(user: int, state: str = "01") -> str:
    return row(address("127.0.0.1", CLIENT), address("127.0.0.1", SERVER), user, state)


def test_the_user_of_a_real_connection_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        port, own = server.getsockname()[1], client.getsockname()[1]
        assert is_of_this_user(own, port)
        assert not is_of_this_user(own ^ 1, port)


def test_a_connection_between_the_same_ports_of_other_addresses_says_nothing_about_its_user(tmp_path: Path) -> None:
    elsewhere = row(address("192.168.1.2", CLIENT), address("93.184.216.34", SERVER), OWN)
    assert not is_own(tmp_path, [elsewhere])
    assert not is_own(tmp_path, [elsewhere, loopback(OTHER)])
    assert not is_own(tmp_path, [row(address("127.0.0.1", CLIENT), address("127.0.0.2", SERVER), OWN)])
    assert not is_own(tmp_path, [row(address("127.0.0.1", SERVER), address("127.0.0.1", CLIENT), OWN)])
    assert is_own(tmp_path, [elsewhere, loopback(OWN)])


def test_every_socket_has_to_be_open_and_of_this_user_or_root(tmp_path: Path) -> None:
    by_ipv6 = row(mapped("127.0.0.1", CLIENT), mapped("127.0.0.1", SERVER), OWN)
    assert is_own(tmp_path, [], [by_ipv6])
    assert is_own(tmp_path, [loopback(0)])
    assert not is_own(tmp_path, [loopback(OTHER)], [by_ipv6])
    assert not is_own(tmp_path, [loopback(OWN, "06")])  # closed
    assert not is_own(tmp_path, [])


def test_another_user_cannot_make_the_server_read_the_tables_often() -> None:
    now, reads = 0.0, 0

    def check(client_port: int, _: int) -> bool:
        nonlocal reads
        reads += 1
        return client_port == 1

    users = UserCheck(check, lambda: now)
    assert all(users.accepts(1, SERVER) for _ in range(100))
    reads = 0
    assert not any(users.accepts(2, SERVER) for _ in range(100))
    assert reads == 20
    assert not users.accepts(1, SERVER)
    now = 1.0
    assert users.accepts(1, SERVER)
