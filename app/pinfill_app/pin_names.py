"""Names of pins. They become part of a model's name, so they hold what those may hold, in ASCII."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

LONGEST = 100
_WORDS, _SUGGESTED_LENGTH = 4, 60


def typed_name(text: str) -> str:
    """The name that a person has typed; what it may not hold is a dash. Empty where nothing is left of it."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", ascii_only)[:LONGEST].strip("-._")


def suggested_name(text: str, taken: Collection[str]) -> str:
    """A name made from a file's name or from the first words of a text, different from those that are taken."""
    words = typed_name(" ".join(text.split()[:_WORDS]).lower())
    made = re.sub(r"[._-]*-[._-]*", "-", words)[:_SUGGESTED_LENGTH].strip("-._")
    known = {name.casefold() for name in taken}
    number, name = 2, made
    while name and name in known:
        name, number = f"{made}-{number}", number + 1
    return name
