"""What files hold of pins whose model is not loaded: there is no engine to ask then."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pinfill_service.cache.kv_file import SUFFIX, KvContent, KvFileError, open_kv_file
from pinfill_service.pins.upkeep import folder_of

log = logging.getLogger(__name__)


class KeptFiles:
    """One look at the folders of KV files in `kv_home`: each is read once, the headers and token ids of its files."""

    def __init__(self, kv_home: Path | None) -> None:
        self._home = kv_home
        self._seen: dict[str, list[KvContent]] = {}

    def bytes_of(self, fingerprint: str, digest: str | None, tokens: int) -> int:
        """How much of a pin the files of its model hold, shared parts included. `digest` is that of its `tokens`."""
        files = self._files(fingerprint)
        whole = next((file for file in files if digest_of(file.token_ids[:tokens]) == digest), None)
        if whole is None:
            return 0
        covered = np.zeros(tokens, bool)
        for file in files:
            if file.namespace == whole.namespace:  # what two prefixes begin with is in one of their files only
                covered[file.start : _common_length(file.token_ids, whole.token_ids[:tokens])] = True
        return int(covered.sum()) * _bytes_per_token(whole)

    def _files(self, fingerprint: str) -> list[KvContent]:
        if fingerprint not in self._seen:
            self._seen[fingerprint] = [] if self._home is None else _read(folder_of(self._home, fingerprint))
        return self._seen[fingerprint]


def digest_of(token_ids: Sequence[int] | NDArray[np.int32]) -> str:
    return hashlib.sha256(np.asarray(token_ids, "<i4").tobytes()).hexdigest()


def _common_length(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    high = min(len(a), len(b))
    differ = np.flatnonzero(a[:high] != b[:high])
    return int(differ[0]) if len(differ) else high


def _read(folder: Path) -> list[KvContent]:
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            found.append(open_kv_file(path, None).content)
        except (KvFileError, OSError, ValueError) as error:  # it is dealt with once its model is loaded
            log.debug("%s was left out: %s", path.name, error)
    return found


def _bytes_per_token(content: KvContent) -> int:
    held = sum(piece.nbytes for pieces in content.groups for piece in pieces)
    return held // (len(content.token_ids) - content.start)
