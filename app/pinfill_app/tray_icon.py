"""The tray's icon, painted from what the service does: a pin, a ring while it prefills, a mark on failure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap

from pinfill_app.icons import paint

SIZES = (16, 22, 24, 32, 44, 48, 64)
# A panel may be light or dark, whatever the windows are, and nobody tells: these stand out from both.
PIN, REST, FAILURE = QColor("#12939a"), QColor("#8a8a8a"), QColor("#d9382c")


class Sign(Enum):
    """What the icon says."""

    STOPPED = auto()  # hollow and grey
    WAITING = auto()  # hollow: it starts, or loads
    READY = auto()  # filled
    FAILED = auto()  # grey, with a mark


@dataclass(frozen=True, slots=True)
class Look:
    """`percent`, 0 to 100, is there of what is being prefilled; None: nothing is."""

    sign: Sign
    percent: int | None = None


def tray_icon(look: Look) -> QIcon:
    """In every size that panels ask for."""
    icon = QIcon()
    for size in SIZES:
        icon.addPixmap(draw(look, size))
    return icon


def draw(look: Look, size: int) -> QPixmap:
    """The icon, `size` pixels square, on nothing."""
    drawn = QPixmap(size, size)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    whole = QRectF(0, 0, size, size)
    name = "pin" if look.sign in (Sign.READY, Sign.FAILED) else "pin-hollow"
    color = PIN if look.sign in (Sign.READY, Sign.WAITING) else REST
    if look.percent is None:
        beyond = size * 0.06  # the drawing leaves a margin, which a panel has itself
        paint(painter, whole.adjusted(-beyond, -beyond, beyond, beyond), name, color)
    else:
        _draw_ring(painter, whole, look.percent)
        inset = size * 0.2
        paint(painter, whole.adjusted(inset, inset, -inset, -inset), name, color)
    if look.sign is Sign.FAILED:
        _draw_mark(painter, size)
    painter.end()
    return drawn


def _draw_ring(painter: QPainter, whole: QRectF, percent: int) -> None:
    width = max(2.0, whole.width() / 9)
    ring = whole.adjusted(width / 2, width / 2, -width / 2, -width / 2)
    track = QColor(REST)
    track.setAlphaF(0.45)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(track, width))
    painter.drawEllipse(ring)
    painter.setPen(QPen(PIN, width, c=Qt.PenCapStyle.FlatCap))
    painter.drawArc(ring, 90 * 16, round(-360 * 16 * percent / 100))  # from the top, clockwise, in sixteenths


def _draw_mark(painter: QPainter, size: int) -> None:
    """A disc with an exclamation mark, bottom right: half of the icon, so that it can be read at 16 pixels."""
    side = round(size * 0.56)
    disc = QRectF(size - side, size - side, side, side)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(FAILURE)
    painter.drawEllipse(disc)
    middle, stroke = disc.center().x(), max(1.5, side / 6)
    painter.setPen(QPen(Qt.GlobalColor.white, stroke, c=Qt.PenCapStyle.FlatCap))
    painter.drawLine(QPointF(middle, disc.top() + side * 0.2), QPointF(middle, disc.top() + side * 0.58))
    painter.drawLine(QPointF(middle, disc.top() + side * 0.66), QPointF(middle, disc.top() + side * 0.66 + stroke))
