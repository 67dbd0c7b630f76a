"""What there is to know about one request: its numbers, why not all of it was cached, and pinning its beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QSizePolicy, QVBoxLayout, QWidget

from pinfill_app import finding_words, units
from pinfill_app.failure_words import failure_words
from pinfill_app.models.request_row import RequestRow, counts, date
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.widgets.difference import Difference
from pinfill_app.widgets.primary_button import PrimaryButton
from pinfill_app.windows.activity_rules import RuleOffer
from pinfill_service.api.schemas.manage import Finding, RequestDetail, RequestSegment, RequestSummary

_SEPARATOR = " \N{MIDDLE DOT} "
_GENERATION_PROMPT = "generation prompt"  # what only announces the answer is never pinned
_MOST_SEGMENTS = 20  # in the menu
_WHITE_SPACE = "whitespace"  # the doctor's word for texts that differ in nothing else

PinUpTo = Callable[[str, str | None], None]  # a request's id, and the label of the last segment to pin


class ActivityDetail(QFrame):
    """Rendered from a row, and from what is remembered of the request as soon as that is known."""

    def __init__(self, pin_up_to: PinUpTo, offer: RuleOffer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pin_up_to, self._offer = pin_up_to, offer
        self.title, self.facts, self.finding, self.suggestion = (_text_label() for _ in range(4))
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.texts = Difference()
        self.menu = QMenu(self)
        self.pin = PrimaryButton(self.tr("&Pin this prefix up to"))
        self.pin.setMenu(self.menu)
        self._lay_out()
        self.show_row(None)

    def show_row(self, row: RequestRow | None, detail: RequestDetail | None = None) -> None:
        """`detail`: None while it is not known; a detail of another request is not used."""
        summary = row.summary if row is not None else None
        if row is None:
            self.title.setText(self.tr("Nothing selected"))
            self.facts.setText(self.tr("Select a request to see what of it was cached, and why not all."))
        else:
            self.title.setText(f"{row.client}, {date(row)}")
            self.facts.setText(_SEPARATOR.join(self._facts_of(row)))
        if detail is None or row is None or detail.id != row.id:
            detail = None
        self._show_finding((detail or summary).finding if summary is not None else None)
        self._show_segments(detail)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GRID)
        top.addWidget(self.title, 1)
        top.addWidget(self.pin, alignment=Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, GRID, MARGIN, MARGIN)
        layout.setSpacing(GRID)
        layout.addLayout(top)
        layout.addWidget(self.facts)
        layout.addWidget(self.finding)
        layout.addWidget(self.texts, 1)
        layout.addWidget(self.suggestion)
        layout.addWidget(self._offer)
        layout.addStretch(0)

    # -- words -----------------------------------------------------------------------------------------------------

    def _facts_of(self, row: RequestRow) -> Iterator[str]:
        yield counts(row)
        if row.summary is not None:
            yield from self._outcome(row.summary)
        yield row.model

    def _outcome(self, summary: RequestSummary) -> Iterator[str]:
        if summary.error is not None:
            yield self.tr("failed: {}").format(failure_words(summary.error, summary.error))
        elif summary.generated_tokens:
            yield self.tr("first word after {}").format(units.duration(summary.ttft_seconds))
        if summary.queue_seconds >= 0.1:
            yield self.tr("{} of it waiting for others").format(units.duration(summary.queue_seconds))
        if summary.saved_seconds > 0:
            yield self.tr("{} of prefill saved").format(units.duration(summary.saved_seconds))
        if summary.generated_tokens:
            answered = units.tokens(summary.generated_tokens), units.duration(summary.decode_seconds)
            yield self.tr("answered with {} in {}").format(*answered)
        if summary.finish_reason == "cancelled":
            yield self.tr("cancelled by the client")

    def _show_finding(self, finding: Finding | None) -> None:
        for label, words in (
            (self.finding, self._place(finding) if finding is not None else ""),
            (self.suggestion, finding_words.suggestion(finding) if finding is not None else ""),
        ):
            label.setText(words)
            label.setVisible(bool(words))
        self._offer.show_finding(finding)
        has_texts = finding is not None and bool(finding.before or finding.after)
        self.texts.setVisible(has_texts)
        if finding is not None and has_texts:
            self.texts.show_texts(finding.before, finding.after, show_spaces=finding.kind == _WHITE_SPACE)

    def _place(self, finding: Finding) -> str:
        if finding.position_tokens is None:
            return finding_words.explanation(finding)
        where = self.tr("Left what is cached at token {}").format(units.number(finding.position_tokens))
        if finding.segment is not None:
            where = self.tr('{}, in "{}"').format(where, finding.segment)
        return f"{where}. {finding_words.explanation(finding)}".strip()

    # -- pinning ---------------------------------------------------------------------------------------------------

    def _show_segments(self, detail: RequestDetail | None) -> None:
        self.menu.clear()
        segments = _ends(detail.segments) if detail is not None else []
        can_pin = detail is not None and detail.can_be_pinned and bool(segments)
        self.pin.setEnabled(can_pin)
        forgotten = detail is not None and not detail.can_be_pinned
        self.pin.setToolTip(
            self.tr("Its text is not remembered any more. Send it again, then pin it.") if forgotten else ""
        )
        if detail is None or not can_pin:
            return
        for label, end in segments[:_MOST_SEGMENTS]:
            words = self.tr("{}: {}").format(label, units.tokens(end)).replace("&", "&&")
            self.menu.addAction(words).triggered.connect(
                lambda _checked=False, request=detail.id, label=label: self._pin_up_to(request, label)
            )
        if len(segments) > _MOST_SEGMENTS:
            more = self.tr("{} more...").format(units.number(len(segments) - _MOST_SEGMENTS))
            self.menu.addSeparator()
            self.menu.addAction(more).triggered.connect(
                lambda _checked=False, request=detail.id: self._pin_up_to(request, None)
            )


def _ends(segments: Sequence[RequestSegment]) -> list[tuple[str, int]]:
    """(label, tokens from the beginning to its end) of what can be the end of a pin. Of two with one label the service
    means the first.
    """
    ends: dict[str, int] = {}
    for segment, end in zip(segments, accumulate(each.tokens for each in segments), strict=True):
        if segment.label != _GENERATION_PROMPT:
            ends.setdefault(segment.label, end)
    return list(ends.items())


def _text_label() -> QLabel:
    label = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return label
