"""The system libraries that the desktop part needs are on this machine: what installers/dev.py installs is enough."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LOADED = [
    "QtCore.abi3.so",
    "QtDBus.abi3.so",
    "QtGui.abi3.so",
    "QtNetwork.abi3.so",
    "QtSvg.abi3.so",
    "QtWidgets.abi3.so",
    "Qt/plugins/iconengines/libqsvgicon.so",
    "Qt/plugins/imageformats/libqsvg.so",
    "Qt/plugins/platforms/libqoffscreen.so",
    "Qt/plugins/platforms/libqwayland.so",
    "Qt/plugins/platforms/libqxcb.so",
    "Qt/plugins/tls/libqopensslbackend.so",
    "Qt/plugins/wayland-shell-integration/libxdg-shell.so",
    "Qt/plugins/xcbglintegrations/libqxcb-egl-integration.so",
    "Qt/plugins/xcbglintegrations/libqxcb-glx-integration.so",
]

START = """
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QLabel
application = QApplication([])
label = QLabel("Pinfill")
label.show()
print(application.platformName(), len(QFontDatabase.families()), label.grab().isNull())
"""


def pyside_folder() -> Path:
    spec = importlib.util.find_spec("PySide6")
    if spec is None or spec.origin is None:
        pytest.skip("the desktop extra is not installed")
    return Path(spec.origin).parent


@pytest.mark.skipif(not sys.platform.startswith("linux") or shutil.which("ldd") is None, reason="ldd is Linux's")
@pytest.mark.parametrize("name", LOADED)
def test_every_library_that_qt_links_to_is_found(name: str) -> None:
    listing = subprocess.run(["ldd", pyside_folder() / name], capture_output=True, text=True, check=True).stdout

    assert [line.split()[0] for line in listing.splitlines() if "not found" in line] == []


COUNT = """
import sys
from PySide6.QtCore import QObject, QTimer, Signal
class Sender(QObject):
    sent = Signal(bool)
sender, timer = Sender(), QTimer()
sender.sent.connect(lambda _: None)
before = [sys.getrefcount(each) for each in (None, True, False)]
for _ in range(50):
    sender.sent.emit(True)
    timer.setInterval(5)
    timer.isActive()
print(*(sys.getrefcount(each) - count for each, count in zip((None, True, False), before, strict=True)))
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="they are immortal there, whatever their counts say")
def test_calls_lose_no_reference_to_what_every_program_shares() -> None:
    pyside_folder()
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert all(abs(int(difference)) < 25 for difference in done.stdout.split()), done.stdout


def test_a_widget_is_drawn_offscreen_with_a_font() -> None:
    pyside_folder()
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    done = subprocess.run([sys.executable, "-c", START], env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    platform_name, fonts, empty = done.stdout.split()
    assert platform_name == "offscreen"
    assert int(fonts) > 0
    assert empty == "False"
