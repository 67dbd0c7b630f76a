"""Shows a file's folder in the system's file manager."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QProcess, QUrl
from PySide6.QtGui import QDesktopServices

from pinfill_app.background import in_background


def reveal(owner: QObject, path: str, failed: Callable[[str], None]) -> None:
    """Opens the folder of `path`, never the file itself. `failed` gets a sentence that says why not."""
    in_background(owner, partial(_found, path), partial(_on_found, path, failed))


def _found(path: str) -> bool:
    """A disk may be asleep, and a share far away."""
    return Path(path).is_absolute() and Path(path).exists()


def _on_found(path: str, failed: Callable[[str], None], outcome: bool | Exception) -> None:
    tr = QCoreApplication.translate
    if isinstance(outcome, Exception):
        failed(tr("reveal", "{} cannot be looked at: {}.").format(path, outcome))
    elif not outcome:
        failed(tr("reveal", "{} is gone. Put it back, or pin another file in its place.").format(path))
    elif not _open(Path(path)):
        failed(tr("reveal", "There is no file manager to show {} with.").format(path))


def _open(path: Path) -> bool:
    if sys.platform == "win32":
        return QProcess.startDetached("explorer.exe", ["/select,", str(path)])[0]
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
