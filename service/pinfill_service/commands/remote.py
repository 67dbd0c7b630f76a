"""The Pinfill that runs on this machine, asked over its management API, and how what it answers is shown."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import typer

from pinfill_service import __version__
from pinfill_service.commands.console import CommandError

if TYPE_CHECKING:
    import httpx
    from pydantic import BaseModel
    from rich.text import Text

    from pinfill_service.settings import Settings

    T = TypeVar("T", bound=BaseModel)

API = "/pinfill/v1/"
NOT_RUNNING = "Pinfill is not running. Start it with: pinfill serve"
CACHED, PROCESSED = "#0f8b8d", "#d98e04"  # the two colours of a prompt, the same everywhere
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


class RemoteError(CommandError):
    """The service refused what it was asked, in its own words. `code` is its stable name for the reason."""

    def __init__(self, message: str, status: int, code: str | None) -> None:
        super().__init__(message, code=code)
        self.status = status


class Remote:
    """The management API of one service. Methods raise CommandError; paths are given in parts, below /pinfill/v1."""

    def __init__(self, http: httpx.Client, url: str, *, needs_key: bool, keyless: Exception | None) -> None:
        """`keyless`: why there is no key to send; raised when the service turns out to want one."""
        self.url = url
        self.needs_key = needs_key
        self._http = http
        self._keyless = keyless

    def get(self, schema: type[T], *path: str, **query: Any) -> T:
        return self.ask("GET", schema, *path, query=query)

    def delete(self, schema: type[T], *path: str) -> T:
        return self.ask("DELETE", schema, *path)

    def post(self, schema: type[T], *path: str, body: BaseModel | None = None, seconds: float | None = None) -> T:
        """`seconds`: how long the answer may take, where that is more than usual."""
        return self.ask("POST", schema, *path, body=body, seconds=seconds)

    def patch(self, schema: type[T], *path: str, body: BaseModel) -> T:
        return self.ask("PATCH", schema, *path, body=body)

    def ask(
        self,
        method: str,
        schema: type[T],
        *path: str,
        query: Mapping[str, Any] | None = None,
        body: BaseModel | None = None,
        seconds: float | None = None,
    ) -> T:
        """One request; fields of `body` that were not set are not sent."""
        import httpx
        from pydantic import ValidationError

        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        content = None if body is None else body.model_dump(mode="json", exclude_unset=True)
        timeout = self._http.timeout if seconds is None else httpx.Timeout(seconds)
        try:
            response = self._http.request(method, _address(path), params=parameters, json=content, timeout=timeout)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise self._refusal(response.status_code, response.content)
        try:
            return schema.model_validate_json(response.content)
        except ValidationError as error:
            raise self._mismatch() from error

    @contextmanager
    def events(self) -> Iterator[Iterator[tuple[str, Any]]]:
        """(name, data) of everything that happens in the service from when the block is entered."""
        import httpx

        timeout = httpx.Timeout(60.0)  # a quiet stream has a comment now and then
        try:
            with self._http.stream("GET", _address(("events",)), timeout=timeout) as response:
                if not response.is_success:
                    raise self._refusal(response.status_code, response.read())
                lines = response.iter_lines()
                next(lines, None)  # the service writes a line once it has begun to listen for events
                yield _parse_events(lines)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def check_running(self) -> None:
        """Raises CommandError when nothing answers: for before anything else that takes a while."""
        import httpx

        try:
            self._http.get("/livez")
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def _refusal(self, status: int, content: bytes) -> Exception:
        try:
            error = json.loads(content)["error"]
            words, code = str(error["message"]), error["code"]
        except (ValueError, KeyError, TypeError):
            return self._mismatch()
        if status == 401:
            return self._keyless or CommandError(
                f"The service at {self.url} wants another key than this command has. "
                "Set PINFILL_API_KEY to the one it was started with.",
                code="invalid_api_key",
            )
        if status == 404 and code is None:  # not the thing is missing, but the address
            return self._mismatch()
        return RemoteError(words, status, code)

    def _mismatch(self) -> CommandError:
        """What to say about an answer that this command does not understand."""
        import httpx

        try:
            version = str(self._http.get(_address(("status",))).json()["version"])
        except httpx.HTTPError as error:
            return self._unreachable(error)
        except (ValueError, KeyError, TypeError):
            return CommandError(
                f"What answers at {self.url} is not Pinfill, or one without the management API. "
                "Stop it, or start Pinfill on another port: pinfill serve --port PORT"
            )
        return CommandError(
            f"The service at {self.url} is Pinfill {version}, and this command, of Pinfill {__version__}, does not "
            "understand it. Stop the service, and start it again with: pinfill serve"
        )

    def _unreachable(self, error: httpx.HTTPError) -> CommandError:
        import httpx

        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return CommandError(NOT_RUNNING, code="not_running")
        if isinstance(error, httpx.TimeoutException):
            words = f"The service at {self.url} does not answer. Look at its output, or start it again."
        else:
            words = f"The service at {self.url} broke off ({error or type(error).__name__}). Is it running?"
        return CommandError(words, code="not_running")


@contextmanager
def connect() -> Iterator[Remote]:
    """The service that runs for this user. Raises CommandError when there is none, or one that cannot be used."""
    import httpx

    from pinfill_service.commands.client import client_options
    from pinfill_service.keys import KeyringUnavailableError, active_key
    from pinfill_service.settings import Settings

    settings = Settings.from_flags()
    url, key, keyless = service_url(settings), None, None
    try:
        key = active_key(settings)
    except KeyringUnavailableError as error:  # the service may be one that asks for no key
        keyless = error
    with httpx.Client(**client_options(url, key)) as http:
        remote = Remote(http, url, needs_key=key is not None, keyless=keyless)
        remote.check_running()
        yield remote


def service_url(settings: Settings) -> str:
    """Where the service is: the port that the running one wrote down, else the one in the settings."""
    import psutil

    from pinfill_service.settings import home
    from pinfill_service.state_lock import holder

    host, port, found = _ANY_ADDRESS.get(settings.host, settings.host), settings.port, holder(home())
    if found is not None and found[1] and psutil.pid_exists(found[0]):
        port = found[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def confirm(question: str, command: str, yes: bool) -> None:
    """Asks before something is lost. Raises CommandError where nobody can be asked, and Abort for a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(f"Nobody can be asked here. To do it all the same: {command} --yes")
    typer.confirm(question, abort=True, err=True)


def build(schema: type[T], **fields: Any) -> T:
    """What is sent to the service. Raises CommandError, by the first field at fault."""
    from pydantic import ValidationError

    try:
        return schema(**fields)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CommandError(f"{where or 'This'} is not valid: {first['msg']}.") from None


def print_model(value: BaseModel) -> None:
    """An answer of the service as it is, for programs."""
    typer.echo(value.model_dump_json(indent=2))


def show_size(count: int) -> str:
    """Bytes in decimal units: 12 bytes, 340 kB, 87 MB, 1.4 GB."""
    if count < 1_000:
        return f"{count} bytes"
    if count < 999_500:
        return f"{count / 1e3:,.0f} kB"
    value, unit = (count / 1e6, "MB") if count < 999_500_000 else (count / 1e9, "GB")
    return f"{value:,.{0 if value >= 9.95 else 1}f} {unit}"


def show_seconds(seconds: float) -> str:
    """A duration: 0.03 s, 4.1 s, 12 s, 8 min 2 s, 3 h 12 min."""
    if seconds < 59.5:
        digits = 0 if seconds >= 9.95 or not seconds else 1 if abs(seconds) >= 0.0995 else 2
        return f"{seconds:.{digits}f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def show_left(seconds: float) -> str:
    """A duration that is a guess: 9 s left, 8 min 2 s left."""
    return f"{ceil(seconds)} s left" if seconds < 59 else f"{show_seconds(seconds)} left"


def show_ago(seconds: float) -> str:
    """How long ago, in one unit: now, 2 min, 3 h, 5 d."""
    for limit, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= limit:
            return f"{int(seconds // limit):,} {unit}"
    return "now"


def show_time(at: float, now: Callable[[], float] = time.time) -> str:
    """A Unix time on this machine's clock; with the date unless it is today."""
    then, today = time.localtime(at), time.localtime(now())
    return time.strftime("%H:%M:%S" if then[:3] == today[:3] else "%Y-%m-%d %H:%M", then)


def plain(text: str, limit: int | None = None) -> Text:
    """Text of others for a table: on one line, nothing in it is markup or a command to the terminal."""
    from rich.text import Text

    line = "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in " ".join(text.split()))
    return Text(line if limit is None or len(line) <= limit else f"{line[: limit - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}")


def _address(path: tuple[str, ...]) -> str:
    """The parts of a path below the API, each of them one segment whatever it holds."""
    if any(not part or "/" in part for part in path):
        raise CommandError(f"{path[-1]!r} cannot be a name or an id. 'pinfill pins' and 'pinfill entries' list them.")
    return API + "/".join(quote(part, safe="") for part in path)


def _parse_events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)
