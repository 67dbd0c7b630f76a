"""A splitter whose handles can be moved with the arrow keys, too, and that stays as it was left."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QStyle, QStyleOptionFocusRect, QWidget

from pinfill_app.settings import AppSettings
from pinfill_app.theme import GRID

_STEP = 2 * GRID
_SAVE_MILLISECONDS = 500  # after the last change: it is moved in many steps
_BACK = (Qt.Key.Key_Up, Qt.Key.Key_Left)
_FORTH = (Qt.Key.Key_Down, Qt.Key.Key_Right)
_ENDS = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: 1 << 20}


class Splitter(QSplitter):
    """No part can be made to vanish. `name` is what a person hears of the handle."""

    def __init__(self, orientation: Qt.Orientation, name: str, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self._name = name
        self._keep: tuple[AppSettings, str] | None = None
        self._saving = QTimer(self, singleShot=True, interval=_SAVE_MILLISECONDS)
        self._saving.timeout.connect(self._save)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(lambda *_: self._saving.start())

    def keep_sizes(self, settings: AppSettings, name: str) -> None:
        """Has them as they were under this name, and remembers every change from now on. To be called when all parts
        are there.
        """
        self._keep = settings, name
        kept = settings.split(name)
        if len(kept) == self.count():
            self.setSizes(kept)

    def createHandle(self) -> QSplitterHandle:
        handle = _Handle(self.orientation(), self)
        handle.setAccessibleName(self._name)
        return handle

    def hideEvent(self, event: QHideEvent) -> None:
        if self._saving.isActive():
            self._save()
        super().hideEvent(event)

    def _save(self) -> None:
        self._saving.stop()
        if self._keep is not None:
            settings, name = self._keep
            settings.set_split(name, self.sizes())


class _Handle(QSplitterHandle):
    def __init__(self, orientation: Qt.Orientation, parent: QSplitter) -> None:
        super().__init__(orientation, parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        across = self.orientation() is Qt.Orientation.Horizontal
        place, key = self.x() if across else self.y(), Qt.Key(event.key())
        if key in _ENDS:
            self.moveSplitter(_ENDS[key])
        elif key in _BACK or key in _FORTH:
            forth = (key in _FORTH) != (across and self.isRightToLeft())
            self.moveSplitter(place + (_STEP if forth else -_STEP))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter, look = QPainter(self), QStyleOptionFocusRect()
            look.initFrom(self)
            painter.fillRect(self.rect(), self.palette().highlight())
            self.style().drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, look, painter, self)
            painter.end()
