"""Signatures of thinking blocks: what brings the model's thinking back when a client does not show it."""

from __future__ import annotations

import base64

_OURS = "pinfill."


def sign(thinking: str) -> str:
    """The signature of a thinking block: the thinking itself, in base64.

    Clients hand signatures back as they are, also where they asked for the thinking to be left out, and a model that
    sees again what it thought before its tool calls goes on from the cached prefix.
    """
    return _OURS + base64.urlsafe_b64encode(thinking.encode("utf-8", "replace")).decode("ascii")


def signed(signature: str) -> str:
    """The thinking that `sign` was given; empty for signatures of others, which only they can read."""
    if not signature.startswith(_OURS):
        return ""
    try:
        return base64.b64decode(signature.removeprefix(_OURS), altchars=b"-_", validate=True).decode("utf-8")
    except ValueError:  # somebody changed it
        return ""
