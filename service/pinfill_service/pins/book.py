"""Where pins are written down, as the manager needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from pinfill_service.api.schemas.manage import SourceFile
from pinfill_service.pins.content import PinContent
from pinfill_service.pins.pin import Pin, VerifyResult
from pinfill_service.prompt.tools.definitions import DefinitionError, in_one_form


@dataclass(frozen=True, slots=True)
class StoredPin:
    """A pin on its line of the book. `content` is JSON: what was pinned, whether it was in another form, the digest of
    its tokens, the files it came from, whether those have changed since, and how its last verification ended.
    """

    name: str
    model: str
    fingerprint: str
    content: Mapping[str, Any]
    auto_refresh: bool
    created: float
    state: str
    tokens: int
    error: str | None


class PinBook(Protocol):
    """Safe from any thread. Names that are wrong or taken raise PinError."""

    def pins(self) -> list[StoredPin]:
        """In the user's order."""
        ...

    def add_pin(self, pin: StoredPin) -> None: ...

    def update_pin(self, name: str, pin: StoredPin) -> None:
        """Replaces the pin called `name`, which may get another name."""
        ...

    def remove_pin(self, name: str) -> None: ...

    def order_pins(self, names: Sequence[str]) -> None: ...


def stored(pin: Pin) -> StoredPin:
    """What is written down of a pin."""
    content = pin.content.as_json()
    if pin.reformed:
        content["reformed"] = True
    if pin.digest is not None:
        content["digest"] = pin.digest
    if pin.sources:
        content["sources"] = [source.model_dump() for source in pin.sources]
    if pin.source_changed is not None:
        content["source_changed"] = pin.source_changed
    if pin.verified is not None:
        content["verified"] = asdict(pin.verified)
    return StoredPin(
        name=pin.name,
        model=pin.model,
        fingerprint=pin.fingerprint,
        content=content,
        auto_refresh=pin.auto_refresh,
        created=pin.created,
        state=pin.state,
        tokens=pin.tokens,
        error=pin.reason,
    )


def read(line: StoredPin) -> Pin:
    """A pin as it was written down, its tools in the form of requests: earlier versions kept them as they came.

    Raises KeyError, TypeError or ValueError for what `stored` did not write.
    """
    kept = content = PinContent.from_json(line.content)
    unfit = None
    try:
        content = replace(kept, tools=in_one_form(kept.tools))
    except DefinitionError as error:
        unfit = f"Its tools cannot be offered to a model: {error} Unpin it, and pin it again with other tools."
    verified = line.content.get("verified")
    return Pin(
        name=line.name,
        content=content,
        sources=tuple(SourceFile.model_validate(source) for source in line.content.get("sources", ())),
        auto_refresh=line.auto_refresh,
        created=line.created,
        model=line.model,
        fingerprint=line.fingerprint,
        tokens=line.tokens,
        state="queued" if unfit is None else "failed",
        reformed=content != kept or line.content.get("reformed", False),
        unfit=unfit,
        digest=line.content.get("digest"),
        reason=unfit or line.error,
        source_changed=line.content.get("source_changed"),
        verified=None if verified is None else VerifyResult(**verified),
    )
