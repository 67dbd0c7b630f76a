"""The ledger's file: opened, checked, brought up to date, set aside when damaged, done without when it must be."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

from pinfill_service.cache.ledger_pin_rows import PinChanges, PinRow, load_pins, pin_rows, write_pins
from pinfill_service.cache.ledger_records import LedgerDamageError, LedgerVersionError
from pinfill_service.cache.ledger_schema import MIGRATIONS

log = logging.getLogger(__name__)

FILE = "ledger.sqlite3"
APPLICATION_ID = int.from_bytes(b"Pnfl")  # tells a ledger from any other SQLite file
KEPT_ASIDE = 3  # damaged files
_BUSY_SECONDS = 5.0
_LARGEST_LOG = 4 << 20  # bytes that the write-ahead log keeps on disk when it is empty
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_COMPANIONS = ("-wal", "-shm")
# What a damaged file can raise: Python's sqlite3 decodes SQLite's messages, which quote the file, as strict UTF-8.
FILE_ERRORS = (sqlite3.Error, LedgerDamageError, UnicodeDecodeError)


@dataclass(slots=True)
class OpenLedger:
    """An open ledger. `problem`: why nothing of it is kept. `set_aside`: a sentence about a damaged file."""

    connection: sqlite3.Connection
    problem: str | None = None
    set_aside: str | None = None


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a file, and the pins that are known all the same."""

    error: Exception
    pins: Sequence[PinRow]


def open_ledger(home: Path, clock: Callable[[], float], found: Damage | None = None) -> OpenLedger:
    """Opens `home/ledger.sqlite3`, made with its folder where there is none.

    A damaged file, of which `found` may tell, is set aside, and its pins go into a new one as far as they are known.
    Where no file can be written, the ledger is in memory, with what can be read of the file. Raises LedgerVersionError
    only.
    """
    path = home / FILE
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if found is not None:
            return _begin_anew(path, found, clock)
        try:
            return OpenLedger(_open_file(path))
        except FILE_ERRORS as error:
            if is_surrounding(error):
                raise
            return _begin_anew(path, Damage(error, _salvage(path)), clock)
    except (OSError, *FILE_ERRORS) as error:
        problem = (
            f"Pins, savings and the history of requests are not kept when Pinfill ends, for {path} cannot be written: "
            f"{reason(error)}. Make room and the folder writable, then start Pinfill again."
        )
        log.warning("%s", problem)
        return OpenLedger(_in_memory(path), problem)


def empty_ledger(problem: str) -> OpenLedger:
    """In memory."""
    connection = _connect(":memory:")
    _migrate(connection, None)
    return OpenLedger(connection, problem)


def is_damage(error: Exception) -> bool:
    """Whether an error says that the file is not what was written, as opposed to a full disk and the like."""
    return isinstance(error, LedgerDamageError | UnicodeDecodeError) or _code(error) in _DAMAGE


def is_surrounding(error: Exception) -> bool:
    """Whether an error comes from the disk, the folder or another process, and may be gone when tried again."""
    return _code(error) in (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
    )


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 for an error that is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def reason(error: Exception) -> str:
    """The words of the system or of SQLite."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. Raises sqlite3.Error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(*FILE_ERRORS):  # SQLite has rolled back by itself, or the file is damaged: the first error tells
            connection.execute("ROLLBACK")
        raise


def empty_log(connection: sqlite3.Connection) -> bool:
    """Cuts the write-ahead log to nothing, so that what was deleted is in no file. Raises sqlite3.Error.

    False: another process reads in it just now.
    """
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def delete_copies(home: Path) -> None:
    """Deletes damaged files that were set aside and copies made before an update. Raises OSError."""
    for path in (*_aside(home), *home.glob("ledger.version-*.sqlite3")):
        _delete(path)


def _open_file(path: Path) -> sqlite3.Connection:
    """Raises OSError, sqlite3.Error, LedgerDamageError or LedgerVersionError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.close(descriptor)
    path.chmod(0o600)  # SQLite gives its other files the same permissions
    connection = _connect(path)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        _check(connection)
        if connection.execute("PRAGMA journal_mode=WAL").fetchone() != ("wal",):
            log.info("%s is on a file system without shared memory, so it has no write-ahead log", path.name)
        connection.execute(f"PRAGMA journal_size_limit={_LARGEST_LOG}")
        _migrate(connection, path.parent)
        load_pins(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(database: Path | str, *, uri: bool = False) -> sqlite3.Connection:
    """A connection that one thread at a time may use; transactions are begun by hand."""
    connection = sqlite3.connect(
        database, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=uri
    )
    connection.text_factory = lambda data: data.decode("utf-8", "replace")  # a flipped bit is no reason to raise
    try:
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA temp_store=MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection) -> None:
    """Raises LedgerVersionError for a newer file, LedgerDamageError for one that is damaged or another program's."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and (application or tables):
        raise LedgerDamageError("it is not a ledger")
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise LedgerVersionError(
            f"The ledger was written by a newer Pinfill: it has version {version}, and this Pinfill knows versions up "
            f"to {len(MIGRATIONS)}. Update Pinfill, or set PINFILL_HOME to another folder."
        )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise LedgerDamageError(" ".join(str(verdict).split()))


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, folder: Path | None) -> None:
    """Brings the tables up to date in one transaction, after a copy of what was there went into `folder`."""
    version = _version(connection)
    if version == len(MIGRATIONS):
        return
    if version and folder is not None:
        _copy(connection, folder / f"ledger.version-{version}.sqlite3")
    steps = "".join(MIGRATIONS[version:])
    numbers = f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={len(MIGRATIONS)};"
    try:
        connection.executescript(f"BEGIN IMMEDIATE; {steps} {numbers} COMMIT;")
    except FILE_ERRORS:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    """A copy that is whole as soon as it has its name. Raises OSError or sqlite3.Error."""
    unfinished = target.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(unfinished)) as copy:
        connection.backup(copy)
    unfinished.replace(target)


def _begin_anew(path: Path, damage: Damage, clock: Callable[[], float]) -> OpenLedger:
    """Sets the damaged file aside and opens a new one. Raises OSError or sqlite3.Error."""
    pins = damage.pins
    aside = _put_aside(path, clock())
    connection = _open_file(path)
    with transaction(connection):
        write_pins(connection, PinChanges(tuple(pins), frozenset(row.number for row in pins), frozenset()))
    sentence = (
        f"The ledger was damaged ({reason(damage.error)}) and is now {aside.name}. A new one was begun with the "
        f"pins that are known, {len(pins)}; savings and history are only in that file. Pin again what is missing."
    )
    log.warning("%s", sentence)
    return OpenLedger(connection, set_aside=sentence)


def _salvage(path: Path) -> list[PinRow]:
    """The pins of a damaged file that are whole, as far as it can be read."""
    pins: list[PinRow] = []
    try:
        with closing(_connect(path)) as connection:
            pins.extend(pin_rows(connection))
    except FILE_ERRORS as error:
        log.info("after %d pins %s could not be read on: %s", len(pins), path.name, error)
    return pins


def _put_aside(path: Path, now: float) -> Path:
    """Renames the file and what belongs to it, deleting the oldest of those renamed before."""
    stem = f"ledger.damaged-{datetime.fromtimestamp(now):%Y%m%d-%H%M%S}"
    names = (stem if not number else f"{stem}-{number}" for number in count())
    target = next(candidate for name in names if not (candidate := path.with_name(f"{name}.sqlite3")).exists())
    for old in _aside(path.parent)[: -(KEPT_ASIDE - 1)]:
        _delete(old)
    path.replace(target)
    for suffix in _COMPANIONS:
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").replace(f"{target}{suffix}")
    return target


def _aside(home: Path) -> list[Path]:
    return sorted(home.glob("ledger.damaged-*.sqlite3"))


def _delete(path: Path) -> None:
    for suffix in ("", *_COMPANIONS):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _in_memory(path: Path) -> sqlite3.Connection:
    """A ledger that is gone with the process, with what is in the file as far as that can be read.

    Raises LedgerVersionError.
    """
    # SQLite makes a file for the memory that its readers share; a folder that cannot be written has no place for it.
    for options in ("mode=ro", "mode=ro&immutable=1"):
        connection = _connect(":memory:")
        try:
            with closing(_connect(f"{path.absolute().as_uri()}?{options}", uri=True)) as file:
                _check(file)
                file.backup(connection)
            _migrate(connection, None)
            load_pins(connection)
            return connection
        except FILE_ERRORS as error:
            log.info("%s could not be read (%s): %s", path.name, options, error)
            connection.close()
    return empty_ledger("").connection
