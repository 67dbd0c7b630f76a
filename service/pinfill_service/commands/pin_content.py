"""What `pinfill pin` pins: documents, standard input, or the messages and tools of a conversation."""

from __future__ import annotations

import json
import re
import shlex
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinfill_service.commands.console import CommandError, err
from pinfill_service.commands.remote import build, confirm, plain, show_size

if TYPE_CHECKING:
    from pinfill_service.api.schemas.manage import SourceFile

STDIN = Path("-")
_NAME_WORDS, _NAME_LENGTH = 4, 60
_SHOWN_FILES = 20  # of a folder, before it is pinned
_CONVERSATIONS = ("messages", "input", "instructions")  # of request bodies
_NO_TEXT = "file_without_text"  # the code of documents' NoTextError


def text_of(files: list[Path], text: str | None, raw: bool, yes: bool) -> tuple[str, dict[str, Any]]:
    """(what a name can be made from, fields of PinCreate) of a text, standard input or files."""
    field = "raw_text" if raw else "text"
    if files and STDIN not in files:
        found, sources = read_documents(_all_files(files, yes))
        return files[0].resolve().stem, {field: found, "sources": sources}
    found = _standard_input() if text is None else text
    if not found.strip():
        raise CommandError("There is no text in it to pin.", code=_NO_TEXT)
    return " ".join(found.split()[:_NAME_WORDS]), {field: found}


def _all_files(paths: list[Path], yes: bool) -> Sequence[Path]:
    """The paths with folders replaced by the files in them, shown to the user before anything is read."""
    from pinfill_service.documents.document import DocumentError
    from pinfill_service.documents.inventory import take_inventory

    if not any(path.is_dir() for path in paths):
        return paths
    try:
        inventory = take_inventory(paths)
    except DocumentError as error:
        raise CommandError(str(error), code=error.code) from None
    console = err()
    for title, lines in (
        ("", [f"{file.path}, {show_size(file.size)}" for file in inventory.files]),
        ("skipped: ", [f"{entry.path} {entry.reason}" for entry in inventory.skipped]),
    ):
        for line in lines[:_SHOWN_FILES]:
            console.print(plain(f"{title}{line}"), soft_wrap=True)
        if len(lines) > _SHOWN_FILES:
            console.print(f"{title}and {len(lines) - _SHOWN_FILES:,} more")
    if not inventory.files:
        raise CommandError("There is no file with text in it. Name the files to pin.", code=_NO_TEXT)
    count = "1 file" if len(inventory.files) == 1 else f"{len(inventory.files):,} files"
    confirm(f"Pin {count}, {show_size(inventory.size)}?", shlex.join(["pinfill", *sys.argv[1:]]), yes)
    return inventory.paths


def read_documents(paths: Sequence[Path]) -> tuple[str, list[SourceFile]]:
    """Files as one text, and what each was when it was read. Raises CommandError for one that cannot be read."""
    from hashlib import sha256

    from pinfill_service.api.schemas.manage import SourceFile
    from pinfill_service.documents.compose import compose
    from pinfill_service.documents.document import DocumentError
    from pinfill_service.documents.extract import extract

    console = err()
    try:
        with console.status("Reading files"):
            documents = extract(paths)
    except DocumentError as error:
        raise CommandError(str(error), code=error.code) from None
    for document in documents:
        for note in document.notes:
            console.print(plain(f"{document.path}: {note}"), soft_wrap=True)
    if not any(document.text.strip() for document in documents):
        raise CommandError("There is no text in it to pin.", code=_NO_TEXT)
    sources = [
        build(
            SourceFile,
            path=str(document.path),
            size=document.size,
            mtime=document.mtime_ns / 1e9,
            sha256=document.sha256,
            text_sha256=sha256(document.text.encode()).hexdigest(),
        )
        for document in documents
    ]
    return compose(documents), sources


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise CommandError("Standard input is not text in UTF-8. Convert it, or give the file itself.") from None


def conversation_of(messages: Path, tools: Path | None) -> dict[str, Any]:
    """Fields of PinCreate from files that hold messages or a whole request body, and tools."""
    content, given = _read_json(messages), _read_json(tools) if tools else None
    if isinstance(content, list):
        fields = content = {"messages": content}
    elif isinstance(content, dict) and any(content.get(name) for name in _CONVERSATIONS):
        fields = {"body": content}
    else:
        raise CommandError(f"{messages} holds neither a list of messages nor a request body with messages or input.")
    for path, found in ((tools, given), (messages, content.get("tools"))):
        if found is not None and not isinstance(found, list):
            raise CommandError(f"{path} holds no list of tools.")
    return {**fields, "tools": given}


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is not JSON: {error}.") from None


def name_from(words: str) -> str:
    """A pin's name made from a file's name or from words: small letters, digits, dots and dashes."""
    ascii_only = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9._]+", "-", ascii_only)[:_NAME_LENGTH].strip("-._")
