"""The offer to turn on a rule that would have prevented what the doctor found."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from pinfill_app import rule_words
from pinfill_app.client import Client
from pinfill_app.failure import Failure
from pinfill_app.theme import GRID
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_service.api.schemas.manage import Finding, PromptRule, SettingsChange, SettingsView

_TOPIC = "rule"


class RuleOffer(QWidget):
    """Is there only while a rule that is off would help."""

    def __init__(self, client: Client, notices: Notices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._client, self._notices = client, notices
        self._rules: list[PromptRule] = []
        self._finding: Finding | None = None
        self._rule: PromptRule | None = None
        self.question, self.description = (QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText) for _ in range(2))
        self.question.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.turn_on, self.why = QPushButton(self.tr("&Turn on")), QPushButton(self.tr("&Why"))
        self.why.setCheckable(True)
        across = QHBoxLayout()
        across.setSpacing(GRID)
        for widget in (self.question, self.turn_on, self.why):
            across.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(across)
        layout.addWidget(self.description)
        self.description.hide()
        self.why.toggled.connect(self.description.setVisible)
        self.turn_on.clicked.connect(self._turn_on)
        self._render()

    def look(self) -> None:
        """Asks which rules there are, and which are on."""
        self._client.get(SettingsView, "settings", done=self._on_settings)

    def show_finding(self, finding: Finding | None) -> None:
        if finding != self._finding:
            self._finding = finding
            self._render()

    def _render(self) -> None:
        kind = self._finding.kind if self._finding is not None else None
        rule = next((rule for rule in self._rules if kind in rule.prevents and not rule.on), None)
        if rule != self._rule:
            self.why.setChecked(False)
        self._rule = rule
        self.setVisible(rule is not None)
        if rule is not None:
            self.question.setText(self.tr('Turn on the rule "{}"?').format(rule_words.title(rule)))
            self.description.setText(rule_words.description(rule))

    def _on_settings(self, answer: SettingsView | Failure) -> None:
        if isinstance(answer, SettingsView):  # without it nothing is offered, and the suggestion still names the rule
            self._rules = answer.rules
            self._render()

    def _turn_on(self) -> None:
        if self._rule is not None:
            change = SettingsChange(rules={self._rule.name: True})
            done = partial(self._on_turned_on, rule_words.title(self._rule))
            self._client.patch(SettingsView, "settings", body=change, done=done)

    def _on_turned_on(self, title: str, answer: SettingsView | Failure) -> None:
        if isinstance(answer, Failure):
            words = self.tr('The rule "{}" was not turned on. {}').format(title, answer.message)
            self._notices.show_notice(_TOPIC, Notice(words, Weight.FAILURE))
            return
        self._on_settings(answer)
        words = self.tr('The rule "{}" is on: it counts for requests from now on.').format(title)
        self._notices.show_notice(_TOPIC, Notice(words))
