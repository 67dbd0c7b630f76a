"""Light and dark, and the two colours that mean something."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

GRID = 8  # pixels; margins and gaps are multiples of it
MARGIN = 2 * GRID


class Theme(StrEnum):
    """What a person can choose."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


_SCHEMES = {
    Theme.SYSTEM: Qt.ColorScheme.Unknown,
    Theme.LIGHT: Qt.ColorScheme.Light,
    Theme.DARK: Qt.ColorScheme.Dark,
}
_WITH_BOXES = ("QCheckBox", "QMenu")  # neither draws its ground in the window's colour
_DARKER = 140  # per cent: what Fusion makes of the window's colour for outlines


def use_theme(theme: Theme) -> None:
    """Shows everything light or dark, or as the system does, from now on."""
    QApplication.setStyle("Fusion")
    QApplication.setPalette(QPalette())  # the platform's
    QGuiApplication.styleHints().setColorScheme(_SCHEMES[theme])
    if theme is Theme.DARK and not is_dark(QGuiApplication.palette()):  # a platform that has no schemes
        QApplication.setPalette(_dark_palette())
    outline_boxes()


def outline_boxes() -> None:
    """Makes the outlines of check boxes clear: Fusion's is a shade of the window, on a dark ground next to nothing.

    Belongs to the palette of the moment, and goes with it.
    """
    palette = QPalette(QApplication.palette())
    for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive, QPalette.ColorGroup.Disabled):
        text, ground = palette.color(group, QPalette.ColorRole.Text), palette.color(group, QPalette.ColorRole.Base)
        halfway = QColor(*((one + other) // 2 for one, other in zip(_parts(text), _parts(ground), strict=True)))
        palette.setColor(group, QPalette.ColorRole.Window, halfway.lighter(_DARKER))
    for name in _WITH_BOXES:
        QApplication.setPalette(palette, name)  # type: ignore[arg-type]  # PySide wants str, its stubs bytes


def _parts(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()


def _dark_palette() -> QPalette:
    """Fusion's dark colours; what is not set here follows from these two."""
    palette = QPalette(QColor("#3c3c3c"), QColor("#323232"))
    palette.setColor(QPalette.ColorRole.Base, QColor("#242424"))
    palette.setColor(QPalette.ColorRole.AlternateBase, QColor("#2b2b2b"))
    palette.setColor(QPalette.ColorRole.Highlight, QColor("#2f7fb5"))
    palette.setColor(QPalette.ColorRole.HighlightedText, QColor("#ffffff"))
    palette.setColor(QPalette.ColorRole.Link, QColor("#7cb8e8"))
    return palette


def is_dark(palette: QPalette) -> bool:
    """Whether light text stands on a dark ground."""
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def cached_color(palette: QPalette) -> QColor:
    """Tokens that were there already."""
    return QColor("#4cc9c0" if is_dark(palette) else "#0f8b8d")


def processed_color(palette: QPalette) -> QColor:
    """Tokens that had to be prefilled."""
    return QColor("#ffb84d" if is_dark(palette) else "#d98e04")


def failure_color(palette: QPalette) -> QColor:
    """Something failed; always with an icon and a word."""
    return QColor("#ff8a80" if is_dark(palette) else "#b3261e")


def track_color(palette: QPalette) -> QColor:
    """The part of a bar that is not done: the text's colour, hardly there."""
    color = palette.color(QPalette.ColorRole.WindowText)
    color.setAlphaF(0.15)
    return color
