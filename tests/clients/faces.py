"""Each client behind one face, so that one test can be run with all of them."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import aiohttp
import httpx
import requests

import hatbox
from hatbox import ContextualIdentity, Profile, SyncProfile

NOTHING: Final[Mapping[str, str]] = {}


class Answer(NamedTuple):
    status: int
    text: str


class Face(ABC):
    """A client that wears an identity."""

    @abstractmethod
    def get(self, url: str, headers: Mapping[str, str] = NOTHING, **options: Any) -> Answer:
        """The answer at the end of all redirects; `options` are the client's own."""

    @abstractmethod
    def own_cookies(self) -> list[Any]:
        """What the client's own jar holds."""

    @abstractmethod
    def close(self) -> None: ...


class Wardrobe(ABC):
    """An open profile, and clients made in it."""

    @abstractmethod
    def wear(self, identity: str | ContextualIdentity) -> Face: ...

    @abstractmethod
    def remove(self, identity: str) -> None: ...

    @abstractmethod
    def rename(self, identity: str, name: str) -> None: ...

    @abstractmethod
    def close_profile(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class SyncWardrobe(Wardrobe):
    def __init__(self, path: Path | str, face: type[SyncFace]) -> None:
        self.profile = hatbox.open_sync(path).open()
        self._face = face
        self._faces: list[Face] = []

    def wear(self, identity: str | ContextualIdentity) -> Face:
        self._faces.append(self._face(self.profile, identity))
        return self._faces[-1]

    def remove(self, identity: str) -> None:
        self.profile.identities.remove(self.profile.identities.find(identity))

    def rename(self, identity: str, name: str) -> None:
        self.profile.identities.update(self.profile.identities.find(identity), name=name)

    def close_profile(self) -> None:
        self.profile.close()

    def close(self) -> None:
        for face in self._faces:
            face.close()
        self.profile.close()


class AsyncWardrobe(Wardrobe):
    def __init__(self, path: Path | str, face: type[AsyncFace]) -> None:
        self.runner = asyncio.Runner()
        self.profile = self.runner.run(hatbox.open(path).__aenter__())
        self._face = face
        self._faces: list[Face] = []

    def wear(self, identity: str | ContextualIdentity) -> Face:
        self._faces.append(self._face(self.runner, self.profile, identity))
        return self._faces[-1]

    def remove(self, identity: str) -> None:
        async def removed() -> None:
            await self.profile.identities.remove(await self.profile.identities.find(identity))

        self.runner.run(removed())

    def rename(self, identity: str, name: str) -> None:
        async def renamed() -> None:
            await self.profile.identities.update(await self.profile.identities.find(identity), name=name)

        self.runner.run(renamed())

    def close_profile(self) -> None:
        self.runner.run(self.profile.close())

    def close(self) -> None:
        for face in self._faces:
            face.close()
        self.runner.run(self.profile.close())
        self.runner.close()


class SyncFace(Face):
    @abstractmethod
    def __init__(self, profile: SyncProfile, identity: str | ContextualIdentity) -> None: ...


class AsyncFace(Face):
    @abstractmethod
    def __init__(self, runner: asyncio.Runner, profile: Profile, identity: str | ContextualIdentity) -> None: ...


class Httpx(SyncFace):
    def __init__(self, profile: SyncProfile, identity: str | ContextualIdentity) -> None:
        self.client: httpx.Client = profile.httpx(identity, follow_redirects=True, verify=False)

    def get(self, url: str, headers: Mapping[str, str] = NOTHING, **options: Any) -> Answer:
        response = self.client.get(url, headers=headers, **options)
        return Answer(response.status_code, response.content.decode("latin-1"))

    def own_cookies(self) -> list[Any]:
        return list(self.client.cookies.jar)

    def close(self) -> None:
        self.client.close()


class Requests(SyncFace):
    def __init__(self, profile: SyncProfile, identity: str | ContextualIdentity) -> None:
        self.session: requests.Session = profile.requests(identity)

    def get(self, url: str, headers: Mapping[str, str] = NOTHING, **options: Any) -> Answer:
        response = self.session.get(url, headers=headers, **options)
        return Answer(response.status_code, response.content.decode("latin-1"))

    def own_cookies(self) -> list[Any]:
        return list(self.session.cookies)

    def close(self) -> None:
        self.session.close()


class Urllib(SyncFace):
    def __init__(self, profile: SyncProfile, identity: str | ContextualIdentity) -> None:
        self.opener = profile.urllib(identity)

    def get(self, url: str, headers: Mapping[str, str] = NOTHING, **options: Any) -> Answer:
        try:
            with self.opener.open(urllib.request.Request(url, headers=dict(headers)), **options) as response:
                return Answer(response.status, response.read().decode("latin-1"))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read().decode("latin-1"))

    def own_cookies(self) -> list[Any]:
        return []

    def close(self) -> None:
        self.opener.close()


class AsyncHttpx(AsyncFace):
    def __init__(self, runner: asyncio.Runner, profile: Profile, identity: str | ContextualIdentity) -> None:
        self._runner = runner
        self.client: httpx.AsyncClient = profile.httpx(identity, follow_redirects=True, verify=False)

    def get(self, url: str, headers: Mapping[str, str] = NOTHING, **options: Any) -> Answer:
        response = self._runner.run(self.client.get(url, headers=headers, **options))
        return Answer(response.status_code, response.content.decode("latin-1"))

    def own_cookies(self) -> list[Any]:
        return list(self.client.cookies.jar)

    def close(self) -> None:
        self._runner.run(self.client.aclose())


class Aiohttp(AsyncFace):
    def __init__(self, runner: asyncio.Runner, profile: Profile, identity: str | ContextualIdentity) -> None:
        self._runner = runner

        async def made() -> aiohttp.ClientSession:
            return profile.aiohttp(identity)

        self.session = runner.run(made())

    def get(self, url: str, headers: Mapping[str, str] = NOTHING, **options: Any) -> Answer:
        async def got() -> Answer:
            async with self.session.get(url, headers=headers, **options) as response:
                return Answer(response.status, (await response.read()).decode("latin-1"))

        return self._runner.run(got())

    def own_cookies(self) -> list[Any]:
        return list(self.session.cookie_jar)

    def close(self) -> None:
        self._runner.run(self.session.close())


FACES: Final[dict[str, type[SyncFace] | type[AsyncFace]]] = {
    "httpx": Httpx,
    "requests": Requests,
    "urllib": Urllib,
    "async-httpx": AsyncHttpx,
    "aiohttp": Aiohttp,
}


def wardrobe(path: Path | str, name: str) -> Wardrobe:
    face = FACES[name]
    return AsyncWardrobe(path, face) if issubclass(face, AsyncFace) else SyncWardrobe(path, face)
