"""The folder of one model's KV files: what is in it, what it weighs, and what becomes of files that cannot be used."""

from __future__ import annotations

import hashlib
import logging
import stat
from collections.abc import Iterator
from pathlib import Path

from pinfill_service.cache.kv_file import (
    SUFFIX,
    UNFINISHED,
    Identity,
    KvContent,
    KvFile,
    KvFileError,
    open_kv_file,
    write_kv_file,
)

log = logging.getLogger(__name__)

SET_ASIDE = ".damaged"


class KvFolder:
    """Owns `folder`, readable by this user only.

    Invariants: a file under a KV file's name is whole; a file that failed verification is never opened again: it stands
    there under another name, for people to see, until its room is needed. Methods may be called from any thread; no two
    write or delete the same file, because names follow from contents.
    """

    def __init__(self, folder: Path, identity: Identity) -> None:
        """Raises OSError when the folder cannot be made."""
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:  # of a read-only disk the files can be read all the same
            folder.chmod(0o700)
        self.folder, self.identity = folder, identity
        self.set_aside: list[str] = []  # sentences about files that could not be used since the start

    def open_all(self) -> list[KvFile]:
        """The usable files, those that others go on from first. What cannot be used is set aside."""
        for leftover in self.folder.glob(f"*{UNFINISHED}"):
            _unlink(leftover)
        files = [file for path in sorted(self.folder.glob(f"*{SUFFIX}")) if (file := self._open(path)) is not None]
        return sorted(files, key=lambda file: file.content.start)

    def _open(self, path: Path) -> KvFile | None:
        try:
            return open_kv_file(path, self.identity)
        except (KvFileError, OSError) as error:
            self.put_aside(path, str(error))
            return None

    def write(self, content: KvContent) -> KvFile:
        """Stores KV and opens what was written. Raises OSError."""
        path = self.folder / f"{_name(content)}{SUFFIX}"
        write_kv_file(path, self.identity, content)
        try:
            return open_kv_file(path, self.identity)
        except KvFileError as error:
            raise OSError(f"{path.name} is not what was written: {error}") from error

    def is_sound(self, file: KvFile) -> bool:
        """Reads all of a file and compares its checksum. One that fails is set aside."""
        try:
            file.verify()
        except (KvFileError, OSError) as error:
            self.put_aside(file.path, str(error))
            return False
        return True

    def delete(self, file: KvFile) -> None:
        """The file is not needed any more. (Its mapping, where there is one, stays readable.)"""
        _unlink(file.path)

    def put_aside(self, path: Path, reason: str) -> None:
        sentence = f"{path.name} cannot be used: {reason}. It was set aside and its prefix will be prefilled again."
        log.warning("%s", sentence)
        self.set_aside.append(sentence)
        try:
            path.replace(path.with_suffix(SET_ASIDE))
        except OSError as error:
            log.warning("%s could not be renamed: %s", path.name, error.strerror)

    @property
    def size_bytes(self) -> int:
        """All files, those set aside included."""
        return sum(size for _, size in self._sizes())

    def make_room(self, size: int, budget: int) -> bool:
        """Deletes files set aside, oldest first, until `size` more bytes fit into `budget`. False: they do not."""
        aside = sorted(self.folder.glob(f"*{SET_ASIDE}"), key=lambda path: path.stat().st_mtime)
        while self.size_bytes + size > budget:
            if not aside:
                return False
            aside.pop(0).unlink(missing_ok=True)
        return True

    def _sizes(self) -> Iterator[tuple[Path, int]]:
        for path in self.folder.iterdir():
            try:
                yield path, path.stat().st_size
            except FileNotFoundError:  # deleted by the engine thread meanwhile
                continue


def _unlink(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:  # it will be found again, and be as good as now
        log.warning("%s could not be deleted: %s", path.name, error.strerror)


def _name(content: KvContent) -> str:
    digest = hashlib.sha256(f"{content.namespace}\0{content.start}\0".encode())
    digest.update(content.token_ids.astype("<i4").tobytes())
    return digest.hexdigest()[:32]
