"""What there is to know, and to do, about the selected prefixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QDateTime, QLocale, Qt
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.failure_words import reason_words
from pinfill_app.models.prefix_columns import state_text
from pinfill_app.models.prefix_row import PrefixRow, file_name
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.action_button import ActionButton
from pinfill_app.widgets.elided_label import ElidedLabel
from pinfill_app.widgets.flow_layout import FlowLayout
from pinfill_app.windows.prefixes_actions import PrefixActions
from pinfill_service.api.schemas.manage import Pin

_SEPARATOR = " \N{MIDDLE DOT} "
_SHOWN_CHARACTERS = 400
_SHOWN_FILES = 20
_LEAST_TITLE = 18  # characters


class PrefixDetail(QFrame):
    """Rendered from rows. Its height does not depend on them, unless a narrow window makes two lines of the buttons."""

    def __init__(self, actions: PrefixActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions = actions
        self._title, self._facts, self._more = ElidedLabel(), ElidedLabel(), ElidedLabel(Qt.TextElideMode.ElideMiddle)
        font = self._title.font()
        font.setBold(True)
        self._title.setFont(font)
        self._title.setMinimumWidth(_LEAST_TITLE * self._title.fontMetrics().averageCharWidth())
        self._use = ElidedLabel(Qt.TextElideMode.ElideMiddle, Qt.AlignmentFlag.AlignRight)
        self._use.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._copy = ActionButton(actions.copy_model, self, self.tr("&Copy"))
        self._auto = QCheckBox(self.tr("Refresh by itself"))
        self._auto.setToolTip(actions.auto_refresh.text())
        self._auto.clicked.connect(actions.auto_refresh.trigger)
        shown = (
            actions.stop,
            actions.pin,
            actions.verify,
            actions.refresh,
            actions.rename,
            actions.reveal,
            actions.remove,
        )
        self._buttons = [ActionButton(action, self) for action in shown]
        self._lay_out()
        self.show_rows(())

    def show_rows(self, rows: Sequence[PrefixRow]) -> None:
        """These are selected; the actions know that already."""
        pin = rows[0].pin if len(rows) == 1 else None
        if not rows:
            self._title.show_text(self.tr("Nothing selected"))
        elif len(rows) == 1:
            self._title.show_text(rows[0].name[:_SHOWN_CHARACTERS] or self.tr("(no words)"))
        else:
            self._title.show_text(self.tr("{} selected").format(units.number(len(rows))))
        self._use.show_text(self._use_words(pin))
        self._facts.show_text(_SEPARATOR.join(self._fact_words(rows)))
        self._more.show_text(self._more_words(rows))
        self._auto.setVisible(self._actions.auto_refresh.isVisible())
        self._auto.setChecked(self._actions.auto_refresh.isChecked())

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GRID)
        top.addStrut(self._copy.sizeHint().height())  # also while it is not there
        top.addWidget(self._title, 1)
        top.addWidget(self._use)
        top.addWidget(self._copy)
        below = FlowLayout(*self._buttons)
        below.add_stretch()
        below.addWidget(self._auto)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(GRID // 2)
        layout.addLayout(top)
        layout.addWidget(self._facts)
        layout.addWidget(self._more)
        layout.addStretch(1)
        layout.addLayout(below)
        height = 2 * self._copy.sizeHint().height() + 2 * self.fontMetrics().height()
        self.setMinimumHeight(height + 2 * MARGIN + 4 * (GRID // 2))

    def _use_words(self, pin: Pin | None) -> str:
        if pin is None:
            return ""
        if pin.use_as is None:
            return self.tr("made for {}; Refresh makes it for the loaded model").format(pin.model)
        return self.tr("use as model: {}").format(pin.use_as)

    def _fact_words(self, rows: Sequence[PrefixRow]) -> Iterator[str]:
        if not rows:
            yield self.tr("Select a prefix to see where it comes from, and what can be done with it.")
            return
        if len(rows) == 1:
            yield state_text(rows[0])
        yield units.tokens(sum(row.tokens for row in rows))
        memory, disk = sum(row.memory_bytes for row in rows), sum(row.disk_bytes for row in rows)
        if memory:
            yield self.tr("{} in memory").format(units.size(memory))
        if disk:
            yield self.tr("{} on disk").format(units.size(disk))
        if len(rows) == 1:
            yield from self._one_words(rows[0])
        else:
            saved = sum(row.saved_total or 0.0 for row in rows)
            yield self.tr("{} of prefill saved").format(units.rough_duration(saved))

    def _one_words(self, row: PrefixRow) -> Iterator[str]:
        if row.shared_tokens:
            yield self.tr("shares {} with others").format(units.tokens(row.shared_tokens))
        pin = row.pin
        if pin is not None and not pin.on_disk and pin.state in ("warm", "stale"):
            yield self.tr("not on disk: a restart prefills it again")
        if pin is not None and pin.state == "cold" and pin.use_as is not None:
            yield self.tr("the next request reads it from the disk")
        if pin is not None and pin.verified is not None:
            equal, at = pin.verified.greedy_equal, _when(pin.verified.at)
            words = self.tr("verified equal to a cold run, {}") if equal else self.tr("NOT equal to a cold run, {}")
            yield words.format(at)
        if row.entry is not None and row.prefill_seconds:
            yield self.tr("{} of prefill for each hit").format(units.duration(row.prefill_seconds))

    def _more_words(self, rows: Sequence[PrefixRow]) -> str:
        if len(rows) != 1:
            return ""
        row, pin = rows[0], rows[0].pin
        if pin is None:
            if row.entry is not None and row.entry.pinned:
                return self.tr("Part of a pin.")
            return self.tr("Sent by {}").format(row.source) if row.source else ""
        words = [reason_words(pin.state, pin.reason)] if pin.reason else []
        if len(pin.sources) == 1:
            words.append(pin.sources[0].path)
        elif pin.sources:
            names = ", ".join(file_name(source.path) for source in pin.sources[:_SHOWN_FILES])
            words.append(self.tr("{} files: {}").format(units.number(len(pin.sources)), names))
        return _SEPARATOR.join(words)


def _when(at: float) -> str:
    """The time of day, with the date of another day."""
    moment = QDateTime.fromSecsSinceEpoch(int(at))
    today = moment.date() == QDateTime.currentDateTime().date()
    return units.clock(at) if today else QLocale().toString(moment, QLocale.FormatType.ShortFormat)
