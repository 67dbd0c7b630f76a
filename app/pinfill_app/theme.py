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
_OUTLINED = (  # none of them draws its ground in the window's colour
    *("QCheckBox", "QRadioButton", "QMenu", "QPushButton"),
    *("QLineEdit", "QComboBox", "QAbstractSpinBox", "QPlainTextEdit"),
)
READABLE = 4.5  # the contrast of text (WCAG 2.2, 1.4.3)
_STEPS = 32  # from a faint colour to black or white
_DARKER = 140  # per cent: what Fusion makes of the window's colour for outlines


def use_theme(theme: Theme) -> None:
    """Shows everything light or dark, or as the system does, from now on."""
    QApplication.setStyle("Fusion")
    QApplication.setPalette(QPalette())  # the platform's
    QGuiApplication.styleHints().setColorScheme(_SCHEMES[theme])
    if theme is Theme.DARK and not is_dark(QGuiApplication.palette()):  # a platform that has no schemes
        QApplication.setPalette(_dark_palette())
    QApplication.setPalette(readable(QGuiApplication.palette()))
    outline_controls()


def readable(palette: QPalette) -> QPalette:
    """The palette with clearer colours where text would be faint: Fusion's own for what is disabled, for hints in empty
    fields, for links and for selected rows are, and those of a desktop may be.
    """
    clear, roles = QPalette(palette), QPalette.ColorRole
    for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive, QPalette.ColorGroup.Disabled):
        for text, ground in (
            (roles.WindowText, roles.Window),
            (roles.Text, roles.Base),
            (roles.ButtonText, roles.Button),
            (roles.PlaceholderText, roles.Base),
            (roles.Link, roles.Base),
            (roles.LinkVisited, roles.Base),
            (roles.Highlight, roles.HighlightedText),  # here it is the ground that gives way
        ):
            color = clear.color(group, text)
            if (clearer := readable_on(color, clear.color(group, ground))) != color:
                clear.setColor(group, text, clearer)
    return clear


def contrast(one: QColor, other: QColor) -> float:
    """Of two opaque colours, from 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: QColor) -> float:
    parts = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _shares(color))
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def readable_on(color: QColor, ground: QColor) -> QColor:
    """The colour, or the first one on its way to black or white that can be read on the ground."""
    seen = _mixed(ground, color, color.alphaF())
    if contrast(seen, ground) >= READABLE:
        return color
    far = max(QColor("#000000"), QColor("#ffffff"), key=lambda end: contrast(end, ground))
    steps = (_mixed(seen, far, step / _STEPS) for step in range(1, _STEPS + 1))
    return next((step for step in steps if contrast(step, ground) >= READABLE), far)


def _mixed(one: QColor, other: QColor, share: float) -> QColor:
    """`share` of the other, as a screen shows it."""
    pairs = zip(_shares(one), _shares(other), strict=True)
    return QColor(*(round(255 * (a * (1 - share) + b * share)) for a, b in pairs))


def _shares(color: QColor) -> tuple[float, float, float]:
    return color.redF(), color.greenF(), color.blueF()


def outline_controls() -> None:
    """Makes the outlines of controls clear: Fusion's is a shade of the window, on a dark ground next to nothing.

    Belongs to the palette of the moment, and goes with it.
    """
    palette = QPalette()
    for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive, QPalette.ColorGroup.Disabled):
        text, ground = palette.color(group, QPalette.ColorRole.Text), palette.color(group, QPalette.ColorRole.Base)
        palette.setColor(group, QPalette.ColorRole.Window, _mixed(ground, text, 0.5).lighter(_DARKER))
    for name in _OUTLINED:
        QApplication.setPalette(palette, name)  # type: ignore[arg-type]  # PySide wants str, its stubs bytes


def _dark_palette() -> QPalette:
    """Fusion's dark colours; what is not set here follows from these two."""
    palette = QPalette(QColor("#3c3c3c"), QColor("#323232"))
    palette.setColor(QPalette.ColorRole.Base, QColor("#242424"))
    palette.setColor(QPalette.ColorRole.AlternateBase, QColor("#2b2b2b"))
    palette.setColor(QPalette.ColorRole.Highlight, QColor("#2f7fb5"))
    palette.setColor(QPalette.ColorRole.Accent, QColor("#2f7fb5"))
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
