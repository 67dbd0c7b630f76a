"""Pinning what is cached already: an entry, or the beginning of a request."""

from __future__ import annotations

from itertools import accumulate

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QWidget

from pinfill_app import units
from pinfill_app.state import Store
from pinfill_app.windows.pin_dialog import ROW_HEIGHT, PinDialog
from pinfill_service.api.schemas.manage import Entry, PinCreate, RequestDetail

MESSAGE = "message "  # what the labels of messages begin with
GENERATION_PROMPT = "generation prompt"  # what only announces the answer
_SHOWN_CHARACTERS = 300


class PinEntryDialog(PinDialog):
    """All of a cached prefix."""

    def __init__(self, entry: Entry, store: Store, parent: QWidget) -> None:
        super().__init__(self.tr("Pin a cached prefix"), store, parent)
        self._entry = entry
        what = self.tr("{}, kept warm from now on:").format(units.tokens(entry.tokens))
        self.body.addWidget(QLabel(what))
        words = QLabel(entry.begins[:_SHOWN_CHARACTERS], wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.body.addWidget(words, 1)
        self.suggest_name(entry.begins)

    def wanted(self) -> PinCreate:
        return PinCreate(name=self.name, entry_id=self._entry.id)

    def problem(self) -> str:
        return ""


class PinRequestDialog(PinDialog):
    """A request, up to one of its segments."""

    def __init__(self, request: RequestDetail, up_to: str | None, store: Store, parent: QWidget) -> None:
        super().__init__(self.tr("Pin a request"), store, parent)
        self._request = request
        label = QLabel(
            self.tr("Pin what {} sent at {}, &up to and with:").format(request.client, units.clock(request.at))
        )
        label.setWordWrap(True)
        self._segments = QListWidget()
        label.setBuddy(self._segments)
        ends = accumulate(segment.tokens for segment in request.segments)
        for segment, end in zip(request.segments, ends, strict=True):
            if segment.label != GENERATION_PROMPT:
                item = QListWidgetItem(self.tr("{} - {}").format(segment.label, units.tokens(end)))
                item.setData(Qt.ItemDataRole.UserRole, segment.label)
                item.setSizeHint(QSize(0, round(self.fontMetrics().height() * ROW_HEIGHT)))
                self._segments.addItem(item)
        self._segments.setCurrentRow(self._first_choice(up_to))
        self._segments.currentRowChanged.connect(self.check)
        self._segments.itemActivated.connect(self.accept)
        self.body.addWidget(label)
        self.body.addWidget(self._segments, 1)
        client, up_to = request.client.partition("/")[0], self.up_to or ""
        self.suggest_name(client if up_to.startswith(MESSAGE) else f"{client} {up_to}")

    @property
    def up_to(self) -> str | None:
        """The label of the last segment that is pinned."""
        item = self._segments.currentItem()
        return None if item is None else str(item.data(Qt.ItemDataRole.UserRole))

    def wanted(self) -> PinCreate:
        return PinCreate(name=self.name, request_id=self._request.id, up_to=self.up_to)

    def problem(self) -> str:
        if not self._request.can_be_pinned or not self._segments.count():
            return self.tr("Its text is not remembered any more. Send it again, then pin it.")
        return "" if self.up_to is not None else self.tr("Choose where the pin ends.")

    def _first_choice(self, up_to: str | None) -> int:
        """What was asked for; else what comes before the messages, which stays the same in the next conversation; else
        all but the last message, which is what changes from one request to the next.
        """
        labels = [str(self._segments.item(row).data(Qt.ItemDataRole.UserRole)) for row in range(self._segments.count())]
        if up_to in labels:
            return labels.index(up_to)
        before = sum(not label.startswith(MESSAGE) for label in labels)
        return before - 1 if before else max(len(labels) - 2, 0) if labels else -1
