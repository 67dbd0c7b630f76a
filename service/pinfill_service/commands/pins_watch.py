"""`pinfill pins --watch` and `pinfill pins refresh`: what becomes of the files that pins were made of."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from pinfill_service.commands.console import CommandError, out
from pinfill_service.commands.pin_content import read_documents
from pinfill_service.commands.remote import Remote, build, plain, show_time

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import Pin, PinRefresh

_STALE_LENGTH = 500  # characters of the reason that a pin can hold


def watch_files(remote: Remote) -> None:
    """Until Ctrl-C: tells what becomes of the pins, and does what changed files ask for."""
    from pinfill_service.api.schemas.manage import Pins
    from pinfill_service.pins.watching import SourceWatcher

    with remote.events() as events:
        watcher = SourceWatcher(lambda name, why: _take_change(remote, name, why))
        try:
            watcher.update(remote.get(Pins, "pins").pins)
            typer.echo("Watching the files of pins. Ctrl-C ends it.", err=True)
            for event, data in events:
                if event == "pin.state":
                    reason = f" ({data['reason']})" if data["reason"] else ""
                    _tell(data["name"], f"{data['state'] or 'unpinned'}{reason}")
                if event in ("pin.state", "reset"):
                    watcher.update(remote.get(Pins, "pins").pins)
        finally:
            watcher.close()
    raise CommandError("The service stopped, and so did watching. Start it again with: pinfill serve")


def _take_change(remote: Remote, name: str, why: str | None) -> None:
    """A pin's files hold something else: it is pinned again if that was asked for, else said to be stale. None: they
    hold again what was pinned.
    """
    from pinfill_service.api.schemas.manage import Pin, PinChange

    _tell(name, why or "its files are again what was pinned")
    try:
        if why is None:
            remote.patch(Pin, "pins", name, body=build(PinChange, stale=""))
            return
        current = remote.get(Pin, "pins", name)
        try:
            wanted = read_again(current) if current.auto_refresh else None
        except CommandError as error:  # a file is gone or cannot be read any more
            wanted, why = None, str(error)
        if wanted is None:
            remote.patch(Pin, "pins", name, body=build(PinChange, stale=why[:_STALE_LENGTH]))
        else:
            remote.post(Pin, "pins", name, "refresh", body=wanted)
    except CommandError as error:  # what is wrong with one pin does not end the watching of the others
        _tell(name, str(error))


def _tell(name: str, what: str) -> None:
    out().print(plain(f"{show_time(time.time())} {name}: {what}"), soft_wrap=True)


def read_again(pin: Pin) -> PinRefresh:
    """What a pin's files hold now. Raises CommandError for files that are gone or cannot be read any more."""
    from pathlib import Path

    from pinfill_service.api.schemas.manage import PinRefresh

    if not pin.sources:
        return build(PinRefresh)
    found, sources = read_documents([Path(source.path) for source in pin.sources])
    return build(PinRefresh, sources=sources, **{"raw_text" if pin.kind == "raw" else "text": found})
