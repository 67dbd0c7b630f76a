"""Who may speak to the service, and with how much; and where the key comes from."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import keyring
import keyring.backends.fail
import keyring.backends.null
import pydantic
import pytest
from fastapi import FastAPI
from keyring.backend import KeyringBackend

from pinfill_service.application import create_app, server_config
from pinfill_service.keys import (
    FoundKey,
    KeyPlace,
    KeyringUnavailableError,
    UnsafeBindingError,
    active_key,
    check_binding,
    find_key,
    is_loopback,
    load_or_create_key,
)
from tests.support.asgi import Exchange
from tests.support.client import AUTH, KEY, app_with, assert_error, client_for, settings
from tests.support.fake_engine import LIMIT_SECONDS, FakeEngine, Reply
from tests.support.keyrings import LockedKeyring, MemoryKeyring, PlaintextKeyring
from tests.support.models import llama_text


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    engine = FakeEngine(Reply([10]))
    yield engine
    engine.close()


@pytest.fixture
def app(engine: FakeEngine) -> FastAPI:
    return app_with(engine, allowed_hosts=("pinfill.lan",), max_body_mib=1)


@pytest.fixture
async def bare(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client that sends no key."""
    async with client_for(app) as client:
        del client.headers["authorization"]
        yield client


CHAT = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": KEY},
        {"x-api-key": "wrong"},
        {"x-api-key": ""},
        {"x-api-key": f"{KEY}x"},
        {"x-api-key": b"\xff\xfe".decode("latin-1")},
    ],
)
async def test_wrong_keys_are_refused(bare: httpx.AsyncClient, headers: dict[str, str]) -> None:
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    response = await bare.post("/v1/chat/completions", json=CHAT, headers=raw)
    error = assert_error(response, 401, code="invalid_api_key")
    assert error["type"] == "authentication_error" and response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("headers", [AUTH, {"Authorization": f"bearer  {KEY}"}, {"x-api-key": KEY}])
async def test_both_headers_carry_the_key(bare: httpx.AsyncClient, headers: dict[str, str]) -> None:
    assert (await bare.get("/v1/models", headers=headers)).status_code == 200


async def test_key_may_be_any_text(engine: FakeEngine) -> None:
    async with client_for(app_with(engine, api_key="schlüssel")) as client:
        assert_error(await client.get("/v1/models"), 401, code="invalid_api_key")
        right = {"x-api-key": "schlüssel".encode()}
        assert (await client.get("/v1/models", headers=right)).status_code == 200


async def test_only_signs_of_life_are_open(app: FastAPI, bare: httpx.AsyncClient) -> None:
    for method, path in (("GET", "/livez"), ("HEAD", "/"), ("HEAD", "/api/hello")):
        assert (await bare.request(method, path)).status_code == 200
    for method, path in (
        ("GET", "/"),
        ("POST", "/livez"),
        ("GET", "/livez/"),
        ("GET", "//livez"),
    ):
        assert_error(await bare.request(method, path), 401, code="invalid_api_key")
    assert (await bare.get("/api/hello")).status_code == 401
    for path, operations in app.openapi()["paths"].items():
        for method in operations:
            if (method.upper(), path) not in {("GET", "/livez"), ("HEAD", "/"), ("HEAD", "/api/hello")}:
                assert (await bare.request(method, path)).status_code == 401, path
    for path in ("/openapi.json", "/metrics", "/nothing"):
        assert_error(await bare.get(path), 401, code="invalid_api_key")


async def test_without_a_key_everything_is_open_on_loopback(engine: FakeEngine) -> None:
    async with client_for(app_with(engine, no_key=True)) as client:
        del client.headers["authorization"]
        assert (await client.get("/v1/models")).status_code == 200


@pytest.mark.parametrize(
    "host", ["127.0.0.1:7463", "localhost", "LOCALHOST:1", "127.1.2.3", "[::1]:7463", "[::1]", "pinfill.lan:7463"]
)
async def test_loopback_and_configured_hosts_are_served(bare: httpx.AsyncClient, host: str) -> None:
    assert (await bare.get("/livez", headers={"Host": host})).status_code == 200


FOREIGN_HOSTS = (
    "evil.example 127.0.0.1.evil.example localhost.evil.example 10.0.0.1 0.0.0.0 127.1 [::2]:1 [::1 user@localhost "
    ":7463 localhost:x localhost:99999 localhost/x localhost?x localhost#x"
)


@pytest.mark.parametrize("host", ["", "a pinfill.lan", *FOREIGN_HOSTS.split(" ")])
async def test_other_hosts_are_refused(bare: httpx.AsyncClient, host: str) -> None:
    for headers in ({"Host": host}, {"Host": host, **AUTH}):
        assert_error(await bare.get("/livez", headers=headers), 403, code="host_not_allowed")


async def test_missing_and_repeated_hosts_are_refused(app: FastAPI) -> None:
    exchange = Exchange(app, "GET", "/livez")
    for headers in ([], [(b"host", b"localhost"), (b"host", b"evil.example")]):
        exchange = Exchange(app, "GET", "/livez")
        exchange._scope["headers"] = headers
        await exchange.run()
        assert exchange.received()[0] == 403


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        ("http://127.0.0.1:7463", "127.0.0.1:7463", True),
        ("http://localhost:7463", "localhost:7463", True),
        ("http://LOCALHOST:7463", "localhost:7463", True),
        ("http://localhost", "localhost:80", True),
        ("http://pinfill.lan:7463", "pinfill.lan:7463", True),
        ("http://[::1]:7463", "[::1]:7463", True),
        ("https://evil.example", "127.0.0.1:7463", False),
        ("http://localhost:3000", "localhost:7463", False),
        ("http://localhost:7463", "127.0.0.1:7463", False),
        ("null", "127.0.0.1:7463", False),
        ("", "127.0.0.1:7463", False),
        ("http://", "127.0.0.1:7463", False),
        ("file://", "127.0.0.1:7463", False),
        ("http://localhost:x", "localhost:7463", False),
        ("chrome-extension://abcdef", "127.0.0.1:7463", False),
    ],
)
async def test_foreign_pages_are_refused(bare: httpx.AsyncClient, origin: str, host: str, allowed: bool) -> None:
    response = await bare.get("/livez", headers={"Origin": origin, "Host": host})
    if allowed:
        assert response.status_code == 200
    else:
        assert_error(response, 403, code="origin_not_allowed")
        preflight = {"Origin": origin, "Host": host, "Access-Control-Request-Method": "POST"}
        assert_error(await bare.options("/v1/chat/completions", headers=preflight), 403, code="origin_not_allowed")


async def test_large_bodies_are_refused(app: FastAPI, engine: FakeEngine) -> None:
    async with client_for(app) as client:
        body = b'{"prompt": "' + b"x" * (1 << 20) + b'"}'
        response = await client.post("/v1/completions", content=body, headers={"Content-Type": "application/json"})
        assert_error(response, 413, code="body_too_large")
        assert response.headers["connection"] == "close"
    assert not engine.requests


async def test_large_bodies_are_refused_while_they_arrive(app: FastAPI) -> None:
    exchange = Exchange(app, "POST", "/v1/completions", headers={"authorization": f"Bearer {KEY}"})
    exchange.chunked([b"x" * 100_000] * 100)
    await exchange.run()
    assert exchange.received()[0] == 413
    assert len(exchange._bodies) > 80  # the rest was not read


async def test_bodies_in_parts_are_read(app: FastAPI) -> None:
    exchange = Exchange(app, "POST", "/tokenize", headers={"authorization": f"Bearer {KEY}"})
    await exchange.chunked([b'{"conte', b'nt": "a"', b"}"]).run()
    status, headers, body = exchange.received()
    assert (status, body) == (200, b'{"tokens":[67]}')
    assert headers["x-request-id"].startswith("req_")


async def test_request_ids_differ_and_no_server_is_named(app: FastAPI, bare: httpx.AsyncClient) -> None:
    ids = {(await bare.get("/livez")).headers["x-request-id"] for _ in range(5)}
    assert len(ids) == 5
    assert server_config(app, settings()).server_header is False


async def test_unexpected_failures_tell_nothing(
    app: FastAPI, engine: FakeEngine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.crash = ValueError("secret /home/user/model")
    async with client_for(app) as client:
        response = await client.post("/v1/chat/completions", json=CHAT)
    assert_error(response, 500, code="internal_error")
    assert "secret" not in response.text and "ValueError" not in response.text
    assert "secret" in caplog.text and response.headers["x-request-id"] in caplog.text


async def test_websockets_are_closed(app: FastAPI) -> None:
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    await app({"type": "websocket", "path": "/", "headers": []}, receive, send)  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def test_the_first_request_does_not_wait_for_what_could_be_done_before(
    app: FastAPI, bare: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.router.lifespan_context(app):
        made: list[object] = []
        make = pydantic.TypeAdapter.__init__

        def counted(self: object, *arguments: Any, **options: Any) -> None:
            made.append(self)
            make(self, *arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(pydantic.TypeAdapter, "__init__", counted)
        body = {"messages": [{"role": "user", "content": "Hi"}]}
        assert (await bare.post("/v1/chat/completions", json=body, headers=AUTH)).status_code == 200
        assert not made, "validators were made while a client waited"


async def test_the_engine_is_closed_with_the_application(app: FastAPI, engine: FakeEngine) -> None:
    async with app.router.lifespan_context(app):
        assert not engine.closed
    assert engine.closed


@pytest.fixture
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir(mode=0o700)
    return tmp_path / "home"


@pytest.fixture
def use_keyring() -> Iterator[object]:
    before = keyring.get_keyring()
    yield keyring.set_keyring
    keyring.set_keyring(before)


def test_key_is_made_once_and_kept_in_the_keyring(use_keyring: object, state_folder: Path) -> None:
    store = MemoryKeyring()
    keyring.set_keyring(store)
    key = load_or_create_key(settings(api_key=None))
    assert len(key) >= 43 and store.kept == {("pinfill", "api-key"): key} and list(state_folder.iterdir()) == []
    assert find_key(settings(api_key=None)) == FoundKey(key, KeyPlace.KEYRING)
    assert load_or_create_key(settings(api_key=None)) == key == load_or_create_key(settings(api_key="  "))
    assert load_or_create_key(settings(api_key="own")) == "own"
    assert active_key(settings(no_key=True)) is None and active_key(settings(api_key=None)) == key


BACKENDS = pytest.mark.parametrize(
    "backend",
    [keyring.backends.fail.Keyring, keyring.backends.null.Keyring, PlaintextKeyring],
    ids=["none", "null", "file"],
)


@BACKENDS
def test_without_a_key_store_the_key_is_in_a_file_of_the_users_own(
    use_keyring: object, backend: type[KeyringBackend], state_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = backend()
    keyring.set_keyring(store)
    made = find_key(settings(api_key=None))
    path = state_folder / "api-key"
    assert made.place is KeyPlace.FILE and len(made.key) >= 43 and path.read_text() == made.key
    assert os.name == "nt" or stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [path.name for path in state_folder.iterdir()] == ["api-key"] and getattr(store, "kept", {}) == {}
    assert str(path) in caplog.text and made.key not in caplog.text + repr(made)
    keyring.set_keyring(MemoryKeyring())
    assert find_key(settings(api_key=None)) == made  # all who ask must agree, whatever they can reach
    assert find_key(settings(api_key="own")) == FoundKey("own", KeyPlace.SETTINGS)


@BACKENDS
def test_without_any_place_for_a_key_the_next_steps_are_named(
    use_keyring: object, backend: type[KeyringBackend], state_folder: Path, engine: FakeEngine
) -> None:
    keyring.set_keyring(backend())
    state_folder.rmdir()
    state_folder.write_text("not a folder")
    with pytest.raises(KeyringUnavailableError) as refused:
        create_app(settings(api_key=None), engine, llama_text())
    assert "PINFILL_API_KEY" in str(refused.value) and "--no-key" in str(refused.value)


@pytest.mark.skipif(os.name == "nt", reason="the modes and links of POSIX")
@pytest.mark.parametrize("damage", ["open", "linked", "empty", "long", "lines", "bytes", "folder"])
def test_a_key_file_that_cannot_be_trusted_is_refused(use_keyring: object, state_folder: Path, damage: str) -> None:
    keyring.set_keyring(MemoryKeyring())
    path = state_folder / "api-key"
    content = {"empty": "\n", "long": "x" * 2_000, "lines": "one\ntwo"}.get(damage, "a-key")
    if damage == "linked":
        (state_folder / "elsewhere").write_text(content)
        path.symlink_to(state_folder / "elsewhere")
    elif damage == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"\xff" if damage == "bytes" else content.encode())
        path.chmod(0o644 if damage == "open" else 0o600)
    with pytest.raises(KeyringUnavailableError, match="api-key"):
        find_key(settings(api_key=None))


def test_a_locked_keyring_is_not_replaced_by_a_file(use_keyring: object, state_folder: Path) -> None:
    keyring.set_keyring(LockedKeyring())
    with pytest.raises(KeyringUnavailableError, match="Unlock it"):
        find_key(settings(api_key=None))
    assert list(state_folder.iterdir()) == []


def test_all_who_make_the_key_at_once_get_the_same(use_keyring: object, state_folder: Path) -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    barrier = threading.Barrier(8)

    def ask(_: int) -> str:
        barrier.wait(LIMIT_SECONDS)
        return find_key(settings(api_key=None)).key

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "pinfill.lan", ""])
def test_no_binding_beyond_loopback_without_a_key(engine: FakeEngine, host: str) -> None:
    with pytest.raises(UnsafeBindingError):
        app_with(engine, host=host, no_key=True)
    check_binding(settings(host=host), KEY)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])
def test_loopback_needs_no_key(host: str) -> None:
    check_binding(settings(host=host), None)
    assert is_loopback(host)
