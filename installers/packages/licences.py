"""Whose work a package contains, and on which terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from installers.packages.release import PackageError

OWN = "Apache-2.0"
_NOTE = """Each of the following paragraphs names the metadata of a bundled distribution, and is about all of it.
 Qt and PySide6 are used under the GNU Lesser General Public License, version 3. They are separate files in PySide6 and
 shiboken6, which you may replace. Their sources are those of the versions named below, at download.qt.io."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """A distribution in a package. `folder` is its name and version as its wheel writes them."""

    name: str
    version: str
    folder: str
    licence: str


def bundled(trees: Iterable[Path]) -> Iterator[Bundled]:
    """Every distribution in the trees, each once, by name. Raises PackageError."""
    found = {path.parent.name: path for tree in trees for path in tree.glob("*.dist-info/METADATA")}
    for folder in sorted(found, key=str.lower):
        metadata = HeaderParser().parsestr(found[folder].read_text(encoding="utf-8"))
        name, licence = metadata["Name"], _licence(metadata["Name"], metadata.items())
        yield Bundled(name, metadata["Version"], folder.removesuffix(".dist-info"), licence)


def _licence(name: str, headers: Iterable[tuple[str, str]]) -> str:
    values: dict[str, list[str]] = {}
    for header, value in headers:
        values.setdefault(header, []).append(value.strip())
    stated = (*values.get("License-Expression", ()), *values.get("License", ()))
    short = [value.splitlines()[0] for value in stated if value and len(value.splitlines()[0]) < 80]
    classified = [value.rpartition("::")[2].strip() for value in values.get("Classifier", ()) if "License ::" in value]
    if not (short or classified):
        raise PackageError(f"{name} does not say what its licence is. Look, and decide whether it may be shipped.")
    return (short or classified)[0]


def copyright_file(trees: Iterable[Path], texts: str) -> str:
    """DEP-5: our own licence, and that of every bundled distribution, whose texts lie in the folder `texts`."""
    parts = list(bundled(trees))
    own = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: Pinfill\n"
        f"Comment: {_NOTE}\n\n"
        f"Files: *\nCopyright: Pinfill contributors\nLicense: {OWN}\n"
    )
    stanzas = [
        f"Files: usr/lib/pinfill/*/{each.folder}.dist-info/*\n"
        f"Copyright: the authors of {each.name} {each.version}, see {texts}/{each.folder}\n"
        f"License: {_short(each.licence)}\n"
        for each in parts
    ]
    names = sorted({_short(each.licence) for each in parts} - {OWN})
    where = [f"License: {name}\n Its text is in {texts}, with what is under it.\n" for name in names]
    apache = f"License: {OWN}\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n"
    return "\n".join([own, *stanzas, apache, *where])


def _short(licence: str) -> str:
    """As one word, which a short name has to be; combinations of SPDX names stay."""
    return licence if " OR " in licence or " AND " in licence else licence.replace(" ", "-")
