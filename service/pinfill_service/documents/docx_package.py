"""A DOCX file as what it is: a ZIP archive of XML parts that name each other.

The parts are read with the standard library: `python-docx` would bring lxml (a compiled XML library, 5 MB) and a
document model of which the text needs little; footnotes, list numbers and text boxes are not in that model at all.
XML is streamed and expanded within limits. A document type declaration, where entities are defined, has no place in
the format and is refused, so nothing can refer to other files or multiply itself.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Protocol
from xml.parsers import expat

from pinfill_service.documents.detect import check_is_word
from pinfill_service.documents.document import DamagedFileError, LockedFileError, TooLargeError

MAX_DEPTH = 512
_CHUNK = 1 << 18
_ENCRYPTED = 0x1
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError)
_XML_ERRORS = (expat.ExpatError, LookupError, ValueError)  # the last two for encodings that are not there
_AGAIN = "Open it in a word processor and save it again."

# Both namespaces of each: what Word writes, and the standard's strict form.
_PREFIXES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.openxmlformats.org/package/2006/relationships": "package",
}


class Reader(Protocol):
    """Takes the elements of a part: "w:p", with the attributes of the same namespace or none by local name."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


class Package:
    """The parts of an archive. `expanded_bytes` is what all that is read may come to together."""

    def __init__(self, data: bytes, expanded_bytes: int) -> None:
        """Raises DamagedFileError, and UnsupportedFileError for an archive that is no Word document."""
        self._limit = self._left = expanded_bytes
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            self._parts = {info.filename: info for info in self._archive.infolist()}
        except _ZIP_ERRORS as error:
            raise DamagedFileError(f"is a damaged ZIP archive or DOCX file ({error}). Copy it anew.") from error
        check_is_word(self._parts.keys())

    def related(self, part: str) -> dict[str, str]:
        """Parts that `part` names ("" is the package), by kind: "styles", "footnotes", "officeDocument"..."""
        folder, name = posixpath.split(part)
        relations = _Relations(folder)
        self.read(posixpath.join(folder, "_rels", f"{name}.rels"), relations)
        return relations.targets

    def read(self, part: str, reader: Reader) -> bool:
        """Feeds a part to `reader`; False if there is none. Raises DamagedFileError, LockedFileError, TooLargeError."""
        info = self._parts.get(part)
        if info is None:
            return False
        if info.flag_bits & _ENCRYPTED:
            raise LockedFileError("needs a password. Save a copy without one and pin that.")
        parse = _parser(reader)
        try:
            with self._archive.open(info) as file:
                while chunk := file.read(_CHUNK):
                    self._left -= len(chunk)
                    if self._left < 0:
                        raise TooLargeError(f"unpacks to more than {self._limit:,} bytes. Pin the part that is needed.")
                    parse(chunk, False)
            parse(b"", True)
        except _XML_ERRORS + _ZIP_ERRORS as error:
            raise DamagedFileError(f"is a damaged DOCX file ({part}: {error}). {_AGAIN}") from error
        return True


class _Relations:
    def __init__(self, folder: str) -> None:
        self.targets: dict[str, str] = {}
        self._folder = folder

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "package:Relationship" and attributes.get("TargetMode") != "External":
            kind = attributes.get("Type", "").rpartition("/")[2]
            # A target that begins with a slash is meant from the package's root; join does that.
            path = posixpath.normpath(posixpath.join("/", self._folder, attributes.get("Target", "")))
            self.targets.setdefault(kind, path.lstrip("/"))

    def end(self, name: str) -> None:
        """Nothing is open."""

    def text(self, data: str) -> None:
        """Relationships have none."""


def _parser(reader: Reader) -> Callable[[bytes, bool], object]:
    """What to feed with the bytes of a part."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise TooLargeError(f"has more than {MAX_DEPTH} elements inside each other. {_AGAIN}")
        short = _short(name)
        space = short.partition(":")[0] + ":"
        reader.start(short, {_short(key).removeprefix(space): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        reader.end(_short(name))

    def refuse(*_: object) -> None:
        raise DamagedFileError(f"defines entities, which a DOCX file never does; it is not read. {_AGAIN}")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = refuse
    return parser.Parse


def _short(name: str) -> str:
    """ "w:p" of "http://... p"; an attribute without a namespace stays as it is."""
    space, _, local = name.rpartition(" ")
    return f"{_PREFIXES.get(space, 'other')}:{local}" if space else local
