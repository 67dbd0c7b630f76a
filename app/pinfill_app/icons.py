"""The application's icons: SVG files whose `currentColor` is the text's colour of the palette they are shown with."""

from __future__ import annotations

from functools import cache
from typing import Protocol

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from pinfill_service.resources import resource

SIZES = (16, 20, 24, 32, 48)  # 32 and 48 are 16 and 24 on a screen at 200 %
_PROPERTY = "pinfillIcon"


class HasIcon(Protocol):
    """A button or an action."""

    def setIcon(self, icon: QIcon, /) -> None: ...

    def setProperty(self, name: str, value: object, /) -> bool: ...


def icon(name: str, palette: QPalette | None = None) -> QIcon:
    """`resources/icons/<name>.svg` in the palette's colours. Raises ResourceMissingError."""
    palette = palette or QGuiApplication.palette()
    made = QIcon()
    for mode, group, role in (
        (QIcon.Mode.Normal, QPalette.ColorGroup.Active, QPalette.ColorRole.WindowText),
        (QIcon.Mode.Disabled, QPalette.ColorGroup.Disabled, QPalette.ColorRole.WindowText),
        (QIcon.Mode.Selected, QPalette.ColorGroup.Active, QPalette.ColorRole.HighlightedText),
    ):
        for size in SIZES:
            made.addPixmap(pixmap(name, size, palette.color(group, role)), mode)
    return made


def set_icon(target: HasIcon, name: str) -> None:
    """Gives a button or an action an icon that follows the theme."""
    target.setProperty(_PROPERTY, name)
    target.setIcon(icon(name))


def retint() -> None:
    """Draws the icons of all buttons and actions again, in the colours of another theme."""
    for widget in QApplication.allWidgets():
        if not isValid(widget):  # it went while others were drawn
            continue
        for target in (widget, *widget.actions()):
            name = target.property(_PROPERTY)
            if isinstance(name, str):
                target.setIcon(icon(name))  # type: ignore[attr-defined]  # set_icon takes nothing without it


def pixmap(name: str, size: int, color: QColor) -> QPixmap:
    """An icon in one colour, `size` pixels square."""
    drawn = QPixmap(QSize(size, size))
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    paint(painter, QRectF(0, 0, size, size), name, color)
    painter.end()
    return drawn


def paint(painter: QPainter, rectangle: QRectF, name: str, color: QColor) -> None:
    """Draws an icon into a rectangle."""
    source = _source(name).replace("currentColor", color.name())
    painter.save()
    painter.setOpacity(color.alphaF())
    QSvgRenderer(QByteArray(source.encode())).render(painter, rectangle)
    painter.restore()


@cache
def _source(name: str) -> str:
    return resource(f"icons/{name}.svg").read_text(encoding="utf-8")
