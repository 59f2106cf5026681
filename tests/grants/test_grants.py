"""Grants: a token gives what its grant says, until it ends, and nothing else. The profile never contains the token."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox import Grant, GrantExpired, GrantNotFound, GrantRefused, GrantRevoked, InvalidGrant, Profile
from hatbox.grants.grant_cache import _MAX_TIMER
from hatbox.grants.grant_rows import GRANT_CHANGED, put_grant
from hatbox.grants.grant_service import digest_of, new_token
from hatbox.store.base import RESYNC, ChangeRecord, Transaction
from hatbox.store.grant_tables import GrantRow
from tests.postgres import address_of, is_on_server
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess, Refused
from tests.store.store_clock import set_store_clock
from tests.waiting import until

DAY = 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture
def address(path: Path) -> str:
    return address_of(path)


def set_time(profile: Profile, time: float) -> None:
    profile.store.time = lambda: time  # type: ignore[method-assign]


# ------------------------------------------------------------------------------------------------- creating and listing


@in_loop
async def test_a_grant_says_who_may_do_what_where_and_until_when(address: str) -> None:
    async with hatbox.open(address) as profile:
        now = profile.store.time()
        work = await profile.identities.find("Work")
        grant, token = await profile.grants.create(
            "nightly report",
            identities=["Work", work, "Personal"],
            hosts=["*.site.example"],
            actions=["pages", "cookieValues"],
        )
        assert grant.identities == ("firefox-container-2", "firefox-container-1")
        assert grant.hosts == ("*://*.site.example/*",)
        assert grant.actions == {"pages", "cookies", "cookieValues"}
        assert grant.purpose == "nightly report"
        assert abs(grant.created - now) < 600
        assert grant.expires == grant.created + 8 * 3600
        assert grant.revoked is None
        assert grant.program
        assert grant.machine
        assert await profile.grants.list() == [grant]
        assert await profile.grants.verify(token) == profile.grants.check(grant.id) == grant
    async with hatbox.open(address) as profile:
        assert await profile.grants.verify(token) == grant


@in_loop
async def test_the_default_is_the_least_a_program_can_use(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, _ = await profile.grants.create(identities="Work")
        assert (grant.purpose, grant.hosts, grant.actions) == ("", None, frozenset({"fetch"}))
        for_ever, _ = await profile.grants.create(identities="Work", duration=None)
        assert for_ever.expires is None
        until_then, _ = await profile.grants.create(identities="Work", until=profile.store.time() + 60)
        assert until_then.expires is not None


def test_a_grant_allows_only_what_it_names() -> None:
    made = Grant(
        id="a",
        purpose="",
        identities=("firefox-container-2",),
        hosts=("*://*.site.example/*",),
        actions=frozenset({"fetch"}),
        created=1.0,
        expires=2.0,
        revoked=None,
        program="",
        machine="",
    )
    assert made.allows("fetch")
    assert not made.allows("pages")
    assert made.allows_identity("firefox-container-2")
    assert not made.allows_identity("firefox-container-20")
    assert made.allows_url("https://a.site.example/x?y")
    assert made.allows_url("http://site.example:8080/")
    for url in (
        "https://site.example.evil.example/",
        "https://evilsite.example/",
        "file:///etc/passwd",
        "",
        "x",
        "data:,x",
    ):
        assert not made.allows_url(url), url
    assert made.allows_cookie("site.example", host_only=False, secure=True)
    assert not made.allows_cookie("other.example", host_only=False, secure=True)
    with_port = msgspec.structs.replace(
        made, hosts=("*://*.site.example:8000/*", "*://[::1]:80/*", "*://a.example:443/*")
    )
    for url in ("http://site.example:8000/", "https://b.site.example:8000/x", "http://[::1]/", "https://a.example/"):
        assert with_port.allows_url(url), url
    for url in ("http://site.example/", "http://site.example:80000/", "https://[::1]/", "http://a.example/"):
        assert not with_port.allows_url(url), url
    assert with_port.pattern_of("b.site.example") == "*.site.example:8000"
    assert with_port.allows_cookie("site.example", host_only=False, secure=True)  # cookies have no ports
    assert not with_port.allows_cookie("other.example", host_only=False, secure=True)
    assert not msgspec.structs.replace(made, hosts=()).allows_url("https://site.example/")
    assert not made.has_ended(1.9)
    assert made.has_ended(2.0)


@in_loop
async def test_invalid_arguments_create_nothing(address: str) -> None:
    async with hatbox.open(address) as profile:
        create: Any = profile.grants.create
        for error, arguments in (
            (hatbox.IdentityNotFound, {"identities": ["Work", "Wrok"]}),
            (hatbox.IdentityNotFound, {"identities": "firefox-default"}),
            (hatbox.IdentityNotFound, {"identities": "firefox-container-99"}),
            (InvalidGrant, {"identities": []}),
            (InvalidGrant, {"identities": ["Work"] * 101}),
            (InvalidGrant, {"identities": "Work", "hosts": ["https://site.example/path/*"]}),
            (InvalidGrant, {"identities": "Work", "actions": ["fetch", "everything"]}),
            (InvalidGrant, {"identities": "Work", "duration": 0}),
            (InvalidGrant, {"identities": "Work", "duration": -5}),
            (InvalidGrant, {"identities": "Work", "duration": 11 * 366 * DAY}),
            (InvalidGrant, {"identities": "Work", "until": 1.0}),
            (InvalidGrant, {"identities": "Work", "purpose": "a\x1bb"}),
            (TypeError, {"identities": 5}),
            (TypeError, {"identities": "Work", "duration": 5, "until": 5.0}),
            (TypeError, {"identities": "Work", "until": "tomorrow"}),
        ):
            with pytest.raises(error):
                await create(**arguments)
        assert await profile.grants.list() == []


@in_loop
async def test_the_number_of_grants_is_bounded_and_ended_ones_make_room(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hatbox.grants.grant_service._MAX_GRANTS", 2)
    async with hatbox.open(address) as profile:
        first, _ = await profile.grants.create(identities="Work")
        second, _ = await profile.grants.create(identities="Work")
        with pytest.raises(InvalidGrant, match="The profile has 2 valid grants"):
            await profile.grants.create(identities="Work")
        await profile.grants.revoke(first.id)
        third, _ = await profile.grants.create(identities="Work")
        assert [grant.id for grant in await profile.grants.list()] == [second.id, third.id]


# --------------------------------------------------------------------------------------------------------------- tokens


@in_loop
async def test_the_token_is_nowhere_in_the_profile_in_logs_or_in_errors(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[ChangeRecord] = []
    async with hatbox.open(address_of(path)) as profile:
        profile.store.subscribe(seen.append)
        grant, token = await profile.grants.create("report", identities="Work")
        await profile.grants.verify(token)
        with pytest.raises(GrantNotFound) as wrong_id:
            await profile.grants.revoke(token)
        secret = token.removeprefix("hatbox_")
        rows = await profile.store.read(lambda each: each.grants.find())
        for text in (
            repr(grant),
            str(grant),
            repr(rows),
            repr(seen),
            repr(profile.grants),
            str(wrong_id.value),
            caplog.text,
        ):
            assert secret not in text
        if not is_on_server():
            for file in path.parent.iterdir():
                assert secret.encode() not in file.read_bytes(), file
        await profile.grants.revoke(grant.id)
        with pytest.raises(GrantRevoked) as revoked:
            await profile.grants.verify(token)
        assert secret not in str(revoked.value)
    if not is_on_server():
        for file in path.parent.iterdir():
            assert secret.encode() not in file.read_bytes(), file


@in_loop
async def test_a_guessed_token_gets_the_same_answer_as_any_other_text(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, token = await profile.grants.create(identities="Work")
        changed = token[:-1] + ("A" if token[-1] != "A" else "B")
        digest = (digest_of(token) or b"").hex()
        answers = set()
        guesses: list[Any] = [
            changed,
            new_token(),
            "",
            "x",
            grant.id,
            digest,
            f"hatbox_{digest}",
            token * 1000,
            None,
            token[7:],
        ]
        for guess in guesses:
            with pytest.raises(GrantRefused) as refused:
                await profile.grants.verify(guess)
            assert type(refused.value) is GrantRefused
            answers.add(str(refused.value))
        assert len(answers) == 1
        with pytest.raises(GrantRefused):
            profile.grants.check("unknown")
        assert await profile.grants.verify(token) == grant


@in_loop
async def test_a_token_is_valid_in_its_own_profile_only(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "a.db") as here, hatbox.open(tmp_path / "b.db") as there:
        _, token = await here.grants.create(identities="Work")
        await there.grants.create(identities="Work")
        with pytest.raises(GrantRefused):
            await there.grants.verify(token)


@in_loop
async def test_an_expired_token_is_refused_and_its_connections_end(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, token = await profile.grants.create(identities="Work", duration=60)
        assert grant.expires is not None
        ended = profile.grants.ended(grant.id)
        set_time(profile, grant.expires - 0.001)
        assert profile.grants.check(grant.id) == grant
        set_time(profile, grant.expires)
        with pytest.raises(GrantExpired, match=grant.id):
            profile.grants.check(grant.id)
        with pytest.raises(GrantExpired):
            await profile.grants.verify(token)
        profile.grants._cache._on_time(grant.id)  # the timer
        await ended
        assert await profile.grants.list() == [grant]


@in_loop
async def test_a_clock_that_is_set_back_does_not_extend_a_grant(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hatbox.open(address) as profile:
        uptime = [1000.0]
        monkeypatch.setattr(profile.grants._cache, "_clock", lambda: uptime[0])
        grant, token = await profile.grants.create(identities="Work", duration=60)
        ended = profile.grants.ended(grant.id)
        set_time(profile, grant.created - 10 * DAY)
        uptime[0] += 59
        assert profile.grants.check(grant.id) == await profile.grants.verify(token) == grant
        uptime[0] += 1
        with pytest.raises(GrantExpired):
            profile.grants.check(grant.id)
        with pytest.raises(GrantExpired):
            await profile.grants.verify(token)
        profile.grants._cache._on_time(grant.id)  # the timer
        await ended
        # Also one that has expired by a clock which was ahead for a while.
        set_time(profile, grant.created)
        other, other_token = await profile.grants.create(identities="Work", duration=60)
        set_time(profile, grant.created + 61)
        with pytest.raises(GrantExpired):
            profile.grants.check(other.id)
        set_time(profile, grant.created)
        with pytest.raises(GrantExpired):
            await profile.grants.verify(other_token)
        fresh, _ = await profile.grants.create(identities="Work", duration=60)
        assert profile.grants.check(fresh.id) == fresh


@in_loop
async def test_the_timer_of_a_connection_ends_it_by_itself(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, _ = await profile.grants.create(identities="Work", duration=0.2)
        await profile.grants.ended(grant.id)
        with pytest.raises(GrantExpired):
            profile.grants.check(grant.id)
        later, _ = await profile.grants.create(identities="Work", duration=1000 * DAY)
        ended = profile.grants.ended(later.id)
        timer = profile.grants._cache._timers[later.id]
        assert timer.when() <= asyncio.get_running_loop().time() + _MAX_TIMER  # a machine that slept sees it soon
        ended.cancel()
        await until(lambda: not profile.grants._cache._timers)
        assert not profile.grants._cache._watchers


# ----------------------------------------------------------------------------------------------------------- revocation


@in_loop
async def test_a_revoked_grant_is_refused_at_once_and_ends_its_connections(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, token = await profile.grants.create(identities="Work")
        other, other_token = await profile.grants.create(identities="Work")
        calls: list[str] = []
        profile.grants.on_revoked(grant.id, lambda: calls.append("first"))
        profile.grants.on_revoked(grant.id, lambda: calls.remove("never added"))
        profile.grants.on_revoked(grant.id, lambda: calls.append("second"))
        cancel = profile.grants.on_revoked(grant.id, lambda: calls.append("cancelled"))
        cancel()
        cancel()
        ended, stays = profile.grants.ended(grant.id), profile.grants.ended(other.id)
        revoked = await profile.grants.revoke(grant.id)
        assert revoked.revoked is not None
        assert calls == ["first", "second"]
        assert ended.done()
        assert not stays.done()
        with pytest.raises(GrantRevoked):
            profile.grants.check(grant.id)
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(token)
        assert await profile.grants.verify(other_token) == other
        assert await profile.grants.revoke(grant.id) == revoked  # again: as it is
        late: list[str] = []
        profile.grants.on_revoked(grant.id, lambda: late.append("at once"))
        await until(lambda: late)
        with pytest.raises(GrantNotFound, match="hatbox grant list"):
            await profile.grants.revoke("unknown")


@pytest.mark.process
@in_loop
async def test_another_process_revokes_a_grant_and_connections_end_here(path: Path) -> None:
    async with hatbox.open(address_of(path)) as profile:
        grant, token = await profile.grants.create(identities="Work")
        ended = profile.grants.ended(grant.id)
        other = await asyncio.to_thread(OtherProcess, path)
        with other:
            started = await asyncio.to_thread(other.call, "grants", "verify", token)
            assert started["id"] == grant.id
            await asyncio.to_thread(other.call, "grants", "revoke", grant.id)
            await asyncio.wait_for(ended, 30)
            with pytest.raises(GrantRevoked):
                profile.grants.check(grant.id)
            with pytest.raises(Refused, match="GrantRevoked"):
                await asyncio.to_thread(other.call, "grants", "verify", token)


@pytest.mark.process
@in_loop
async def test_a_process_that_is_killed_leaves_its_grants_as_they_are(path: Path) -> None:
    async with hatbox.open(address_of(path)) as profile:
        other = await asyncio.to_thread(OtherProcess, path)
        with other:
            made, token = await asyncio.to_thread(other.call, "grants", "create", "report", identities="Work")
            other.kill()
        (listed,) = await profile.grants.list()
        assert listed.id == made["id"]
        assert (await profile.grants.verify(token)).id == made["id"]
        await profile.grants.revoke(made["id"])
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(token)


@in_loop
async def test_removing_an_identity_takes_it_out_of_its_grants(address: str) -> None:
    async with hatbox.open(address) as profile:
        both, token = await profile.grants.create(identities=["Work", "Personal"])
        alone, alone_token = await profile.grants.create(identities=["Work"])
        other, _ = await profile.grants.create(identities=["Personal"])
        ended = profile.grants.ended(alone.id)
        await profile.identities.remove("Work")
        assert ended.done()
        assert profile.grants.check(both.id).identities == ("firefox-container-1",)
        assert profile.grants.check(other.id) == other
        with pytest.raises(GrantRevoked):
            profile.grants.check(alone.id)
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(alone_token)
        await profile.trash.restore("Work")  # an identity that comes back is not granted again
        assert (await profile.grants.verify(token)).identities == ("firefox-container-1",)
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(alone_token)


@in_loop
async def test_a_clone_of_an_identity_is_not_granted(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, token = await profile.grants.create(identities="Work", actions=["cookieValues", "fetch"])
        clone = await profile.identities.clone("Work", "Work 2")
        assert (await profile.grants.verify(token)).identities == grant.identities == ("firefox-container-2",)
        with pytest.raises(hatbox.PermissionDenied):
            await profile.granted_httpx(token, clone.cookie_store_id)
        browser = await profile.browser(grant=token)
        with pytest.raises(hatbox.PermissionDenied):
            await browser.cookies.getAll({"storeId": clone.cookie_store_id})


@in_loop
async def test_a_temporary_identity_ends_its_grant(address: str) -> None:
    async with hatbox.open(address) as profile:
        async with profile.temporary() as identity:
            grant, _ = await profile.grants.create(identities=identity)
            ended = profile.grants.ended(grant.id)
        assert ended.done()


@in_loop
async def test_a_change_during_a_verification_is_not_lost(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change is delivered after the row was read: the grant must not be cached as it was before."""
    async with hatbox.open(address) as profile:
        grant, token = await profile.grants.create(identities="Work")
        read_row = profile.store.read

        def read(work: Any, **options: Any) -> asyncio.Future[Any]:
            async def revoke_after_reading() -> Any:
                row = await read_row(work, **options)
                monkeypatch.undo()
                await profile.grants.revoke(grant.id)
                return row

            return asyncio.ensure_future(revoke_after_reading())

        monkeypatch.setattr(profile.store, "read", read)
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(token)
        with pytest.raises(GrantRevoked):
            profile.grants.check(grant.id)


@pytest.mark.parametrize("topic", [RESYNC, GRANT_CHANGED])
@in_loop
async def test_lost_and_unreadable_changes_are_read_again(topic: str, address: str) -> None:
    async with hatbox.open(address) as profile:
        revoked, _ = await profile.grants.create(identities="Work")
        deleted, _ = await profile.grants.create(identities="Work")
        stays, _ = await profile.grants.create(identities="Work")
        ended = [profile.grants.ended(each.id) for each in (revoked, deleted)]
        row = await profile.store.read(lambda each: each.grants.get(revoked.id))
        assert row is not None
        await profile.store.write(lambda each: each.grants.put(row._replace(revoked=5.0)))  # without a change record
        await profile.store.write(lambda each: each.grants.delete([deleted.id]))
        lost = ChangeRecord(topic, b"null", None)
        profile.grants._cache._on_change(lost)
        await asyncio.gather(*ended)
        assert profile.grants.check(stays.id) == stays
        for each in (revoked, deleted):
            with pytest.raises(GrantRefused):
                profile.grants.check(each.id)


@in_loop
async def test_a_change_record_can_only_take_away(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, _ = await profile.grants.create(identities="Work")
        more = (
            b'{"id":"%s","identities":["firefox-container-1","firefox-container-2"],"revoked":null}' % grant.id.encode()
        )
        profile.grants._cache._on_change(ChangeRecord(GRANT_CHANGED, more, None))
        assert profile.grants.check(grant.id) == grant
        await profile.grants.revoke(grant.id)
        profile.grants._cache._on_change(ChangeRecord(GRANT_CHANGED, more, None))
        with pytest.raises(GrantRevoked):
            profile.grants.check(grant.id)


@in_loop
async def test_closing_the_profile_ends_all_connections(address: str) -> None:
    async with hatbox.open(address) as profile:
        grant, token = await profile.grants.create(identities="Work")
        ended = profile.grants.ended(grant.id)
    assert ended.done()
    with pytest.raises(GrantRefused):
        profile.grants.check(grant.id)
    async with profile:
        assert await profile.grants.verify(token) == grant
        again = profile.grants.ended(grant.id)
        await profile.grants.revoke(grant.id)
        assert again.done()


# ------------------------------------------------------------------------------------------------------------- clean-up


@in_loop
async def test_ended_grants_are_listed_for_thirty_days(address: str) -> None:
    async with hatbox.open(address) as profile:
        valid, _ = await profile.grants.create(identities="Work", duration=None)
        now = profile.store.time()
        ends = {
            "revoked-just-now": (None, now - 29 * DAY),
            "revoked-long-ago": (None, now - 31 * DAY),
            "expired-just-now": (now - 29 * DAY, None),
            "expired-long-ago": (now - 31 * DAY, None),
            "expires-later": (now + DAY, None),
        }

        def put(transaction: Transaction) -> None:
            for name, (expires, revoked) in ends.items():
                put_grant(transaction, msgspec.structs.replace(valid, id=name, expires=expires, revoked=revoked), b"")

        await profile.store.write(put)
        await profile.store.write(lambda each: each.cookie_time.put(now, None, None))  # so the clock is trusted
    async with hatbox.open(address) as profile:
        listed = {grant.id for grant in await profile.grants.list()}
        assert listed == {valid.id, "revoked-just-now", "expired-just-now", "expires-later"}


@in_loop
async def test_a_clock_that_is_wrong_for_a_while_deletes_no_grant(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listed(ahead: float) -> int:
        set_store_clock(monkeypatch, 1_800_000_000.0 + ahead * DAY)
        async with hatbox.open(address) as profile:
            return len(await profile.grants.list())

    assert await listed(0) == 0
    async with hatbox.open(address) as profile:
        valid, token = await profile.grants.create(identities="Work")
        revoked, _ = await profile.grants.create(identities="Work")
        await profile.grants.revoke(revoked.id)
    assert [await listed(ahead) for ahead in (60, 60.9, 0, 60)] == [2] * 4
    set_store_clock(monkeypatch, 1_800_000_000.0)
    async with hatbox.open(address) as profile:
        assert await profile.grants.verify(token) == valid
    assert [await listed(ahead) for ahead in (31, 32)] == [2, 0]  # it has run for a day


# -------------------------------------------------------------------------------------------------- garbage and copies


GARBAGE = [b"", b"\xff\xfe", b"null", b"[]", b"{}", b'{"purpose":1}', b"[" * 10_000]


@pytest.mark.parametrize(
    "data", [*GARBAGE, b'{"purpose":"","identities":"Work","hosts":null,"actions":[]}'], ids=range(8)
)
@in_loop
async def test_a_row_that_cannot_be_read_allows_nothing_and_can_be_revoked(data: bytes, address: str) -> None:
    async with hatbox.open(address) as profile:
        good, good_token = await profile.grants.create(identities=["Work", "Personal"])
        token = new_token()
        row = GrantRow("broken", digest_of(token) or b"", 1.0, None, None, "program", "machine", data)
        await profile.store.write(lambda each: each.grants.put(row))
        with pytest.raises(GrantRefused):
            await profile.grants.verify(token)
        listed = {grant.id: grant for grant in await profile.grants.list()}
        assert listed["broken"].identities == ()
        assert listed["broken"].actions == frozenset()
        await profile.identities.remove("Work")
        assert (await profile.grants.verify(good_token)).id == good.id
        assert (await profile.grants.revoke("broken")).revoked is not None


@in_loop
async def test_actions_and_hosts_of_a_later_version_allow_nothing_more(address: str) -> None:
    async with hatbox.open(address) as profile:
        token = new_token()
        data = b'{"purpose":"","identities":["firefox-container-2"],"hosts":["later:x"],"actions":["all"],"more":1}'
        row = GrantRow("later", digest_of(token) or b"", 1.0, None, None, "program", "machine", data)
        await profile.store.write(lambda each: each.grants.put(row))
        grant = await profile.grants.verify(token)
        assert not any(grant.allows(each) for each in ("fetch", "pages", "cookies", "cookieValues", "tabs", "settings"))
        assert not grant.allows_url("https://site.example/")


@in_loop
async def test_a_copy_and_a_restored_backup_have_no_grants(tmp_path: Path) -> None:
    """A revoked token must not become valid again by a restore, nor a valid one in another profile."""
    from hatbox.maintenance import copy_profile

    source, target, restored = (address_of(tmp_path / name) for name in ("a.db", "b.db", "c.db"))
    async with hatbox.open(source) as profile:
        grant, token = await profile.grants.create(identities="Work")
        profile.activity_log.record("firefox-container-2", "fetch", grant=grant.id)
        await profile.activity_log.flush()
        await profile.backup(tmp_path / "backup.hatbox")
        await profile.grants.revoke(grant.id)
        await profile.restore(tmp_path / "backup.hatbox")
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(token)
    await asyncio.to_thread(copy_profile, source, target)
    async with hatbox.open(restored) as profile:
        await profile.restore(tmp_path / "backup.hatbox")
    for address in (target, restored):
        async with hatbox.open(address) as profile:
            assert await profile.grants.list() == []
            assert await profile.activity_log.query() == []
            with pytest.raises(GrantRefused):
                await profile.grants.verify(token)


def test_programs_without_an_event_loop_use_grants_too(path: Path) -> None:
    with hatbox.open_sync(address_of(path)) as profile:
        grant, token = profile.grants.create("report", identities="Work", hosts=["site.example"], duration=60)
        assert profile.grants.list() == [profile.grants.verify(token)] == [profile.grants.check(grant.id)]
        profile.grants.revoke(grant.id)
        with pytest.raises(GrantRevoked):
            profile.grants.check(grant.id)
