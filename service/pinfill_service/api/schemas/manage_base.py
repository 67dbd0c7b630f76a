"""What the schemas of the management API have in common."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

PinState = Literal["queued", "prefilling", "warm", "cold", "stale", "failed"]
PinKind = Literal["text", "messages", "raw"]
ModelState = Literal[
    "loading", "draining", "loaded", "unloaded", "failed", "pulling", "pulled", "pull_stopped", "removed"
]


class Schema(BaseModel):
    """Unknown fields are ignored, so that a newer side can talk to an older one."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)
