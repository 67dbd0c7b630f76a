"""The selected agent: how it stands, what can be done, the test's outcome, and the settings to paste."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from pinfill_app import units
from pinfill_app.agent_desk import AgentFacts
from pinfill_app.failure import Failure
from pinfill_app.failure_words import error_words
from pinfill_app.theme import GRID, MARGIN
from pinfill_app.trial_request import TrialAnswer
from pinfill_app.widgets.action_button import ActionButton, PrimaryActionButton
from pinfill_app.widgets.cached_bar import CachedBar
from pinfill_app.widgets.flow_layout import FlowLayout
from pinfill_app.widgets.heading import heading
from pinfill_app.widgets.plain_view import PlainView
from pinfill_app.windows.agents_actions import AgentActions
from pinfill_service.agents.agent import AgentError, Endpoint
from pinfill_service.agents.connections import State

BAR_CHARACTERS = 28
FEWEST_LINES = 4
ROOM = 1.25  # of an agent's first prompt, that must fit beside one answer
NEVER = "never"


class AgentDetail(QFrame):
    """Rendered anew by `show_agent`."""

    def __init__(self, actions: AgentActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions = actions
        self._title = heading("", 1.15)
        self.words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.outcome = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._bar = CachedBar()
        self._bar.setFixedWidth(BAR_CHARACTERS * self.fontMetrics().averageCharWidth())
        self.settings = PlainView(self.tr("Settings to paste"))
        self._lay_out()

    def show_agent(self, facts: AgentFacts | None, endpoint: Endpoint | None) -> None:
        """`endpoint` None: there is no model to connect anything to."""
        self._actions.show_agent(facts)
        self.setVisible(facts is not None)
        if facts is None:
            return
        self._title.setText(facts.agent.title)
        self.words.setText("\n".join(self._words(facts, endpoint)))
        self._show_test(facts)
        text = self._settings(facts, endpoint)
        self.settings.show_text(text)
        self.settings.setVisible(bool(text))

    def _words(self, facts: AgentFacts, endpoint: Endpoint | None) -> list[str]:
        words = [facts.problem] if facts.problem else []
        if facts.local is None:
            words.append(self.tr("This agent keeps its settings to itself. Copy them, and paste them there."))
        elif facts.program is None:
            words.append(self.tr("Not found on this machine. Get it: {}").format(facts.local.install_hint))
        words += [self._state(facts, endpoint)] if facts.connection is not None else []
        if endpoint is None:
            words.append(self.tr("No model is loaded. Load one, then launch or connect the agent."))
        elif facts.local is not None and _is_small(facts, endpoint):
            small = self.tr(
                "{} begins with about {}, and {} takes {} in all: that leaves no room to work. "
                "Use a model with a longer context."
            )
            begins, takes = units.tokens(facts.local.first_prompt_tokens), units.tokens(endpoint.context_length)
            words.append(small.format(facts.local.title, begins, endpoint.model, takes))
        return words

    def _state(self, facts: AgentFacts, endpoint: Endpoint | None) -> str:
        told = facts.connection
        assert told is not None
        if facts.state is State.changed:
            return self.tr(
                "Connected, but its files were changed since. Write the configuration again to use Pinfill, or undo it."
            )
        if endpoint is not None and told.model.partition("@")[0] != endpoint.model.partition("@")[0]:
            words = self.tr("Connected to the model {}, which is not loaded. Write the configuration again to use {}.")
            return words.format(told.model, endpoint.model)
        return self.tr("Connected to {} with the model {}.").format(told.url, told.model)

    def _show_test(self, facts: AgentFacts) -> None:
        outcome = self._actions.tests.get(facts.agent.name, NEVER)
        self._bar.setVisible(isinstance(outcome, TrialAnswer))
        self.outcome.setVisible(outcome is not NEVER)
        if outcome is None:
            self.outcome.setText(self.tr("Waiting for an answer..."))
        elif isinstance(outcome, Failure):
            self.outcome.setText(self.tr("The test failed. {}").format(outcome.message))
        elif isinstance(outcome, TrialAnswer):
            cached, new = outcome.cached_tokens, outcome.processed_tokens
            self._bar.set_tokens(cached, new, cached + new)
            words = self.tr('Answered in {}: {} cached, {} new. "{}"')
            counts = units.number(cached), units.number(new)
            self.outcome.setText(words.format(units.duration(outcome.seconds), *counts, outcome.answer))

    def _settings(self, facts: AgentFacts, endpoint: Endpoint | None) -> str:
        if endpoint is None:
            return ""
        try:
            return facts.agent.settings_text(endpoint.masked())
        except AgentError as error:
            return error_words(error)

    def _lay_out(self) -> None:
        row = FlowLayout()
        acts = self._actions
        for action in (acts.launch_action, acts.write_action, acts.undo_action):
            kind = PrimaryActionButton if action is acts.launch_action else ActionButton
            row.addWidget(kind(action, self))
        test = FlowLayout(ActionButton(acts.copy_action, self), ActionButton(acts.test_action, self), self._bar)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        layout.setSpacing(GRID)
        layout.addWidget(self._title)
        layout.addWidget(self.words)
        layout.addLayout(row)
        layout.addLayout(test)
        layout.addWidget(self.outcome)
        layout.addWidget(self.settings, 1)
        layout.addStretch(0)  # where there are no settings to show
        self.settings.setMinimumHeight(FEWEST_LINES * self.settings.fontMetrics().lineSpacing())


def _is_small(facts: AgentFacts, endpoint: Endpoint) -> bool:
    local = facts.local
    return local is not None and endpoint.context_length - endpoint.output_tokens < local.first_prompt_tokens * ROOM
