"""What can be done about an agent, as actions of the page and of its table's menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from pinfill_app.agent_desk import AgentDesk, AgentFacts
from pinfill_app.failure import Failure
from pinfill_app.failure_words import error_words
from pinfill_app.icons import set_icon
from pinfill_app.terminals import TerminalError
from pinfill_app.tray_actions import copy
from pinfill_app.trial_request import TrialAnswer, TrialRequests
from pinfill_app.windows.agents_change import ChangeDialog
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context
from pinfill_service.agents.agent import AgentError, Endpoint, LocalAgent
from pinfill_service.agents.connections import Plan, State


class AgentActions(QObject):
    """Acts on the agent that was last shown. `tests` has the outcome of tests by agent, None while one runs; `tested`
    follows every change of it.
    """

    tested = Signal()

    def __init__(self, context: Context, desk: AgentDesk, notices: Notices, page: QWidget) -> None:
        super().__init__(page)
        self._context, self._desk, self._notices, self._page = context, desk, notices, page
        self._facts: AgentFacts | None = None
        self._trials = TrialRequests(self)
        self.tests: dict[str, TrialAnswer | Failure | None] = {}
        self.launch_action = self._action(self.tr("&Launch in a terminal"), "play")
        self.write_action = self._action(self.tr("&Write configuration..."), "file")
        self.undo_action = self._action(self.tr("&Undo configuration..."), "close")
        self.copy_action = self._action(self.tr("&Copy settings"), "copy")
        self.test_action = self._action(self.tr("&Test"), "verify")
        self.look_action = self._action(self.tr("Look a&gain"), "refresh")
        self.copy_action.setToolTip(self.tr("With the key: paste them where nobody else can read them."))
        self.test_action.setToolTip(self.tr("Sends one short request, as the agent would."))
        self.launch_action.triggered.connect(lambda: self._with_local(self._launch))
        self.write_action.triggered.connect(lambda: self._with_local(self.write))
        self.undo_action.triggered.connect(lambda: self._with_local(self.undo))
        self.copy_action.triggered.connect(self._on_copy)
        self.test_action.triggered.connect(self._on_test)
        self.look_action.triggered.connect(desk.look)

    @property
    def all(self) -> list[QAction]:
        """In the order in which people use them."""
        return [
            self.launch_action,
            self.write_action,
            self.undo_action,
            self.copy_action,
            self.test_action,
            self.look_action,
        ]

    def show_agent(self, facts: AgentFacts | None) -> None:
        """The one they are about from now on."""
        self._facts = facts
        ready = self._desk.endpoint() is not None
        local, known = facts is not None and facts.local is not None, facts is not None
        self.launch_action.setEnabled(ready and facts is not None and facts.program is not None)
        self.write_action.setEnabled(ready and local)
        self.undo_action.setEnabled(facts is not None and facts.state not in (None, State.not_connected))
        self.copy_action.setEnabled(ready and known)
        self.test_action.setEnabled(
            ready and facts is not None and self.tests.get(facts.agent.name, "never") is not None
        )

    # -- configuration ---------------------------------------------------------------------------------------------

    def write(self, agent: LocalAgent) -> None:
        """Shows what would be written, and writes it when that is wanted."""
        endpoint = self._desk.endpoint()
        if endpoint is None:
            self._tell_failure(self.tr("No model is loaded. Load one, then connect the agent."))
        else:
            self._desk.plan(agent, endpoint, partial(self._on_planned, agent))

    def undo(self, agent: LocalAgent) -> None:
        """Shows what would be taken back, and does it when that is wanted."""
        self._desk.plan_undo(agent, partial(self._on_planned, agent))

    def _on_planned(self, agent: LocalAgent, plan: Plan | Exception) -> None:
        if isinstance(plan, Exception):
            self._tell_failure(error_words(plan))
            return
        dialog = ChangeDialog(agent, plan, self._page)
        dialog.accepted.connect(lambda: self._desk.apply(plan, partial(self._on_applied, agent, plan)))
        dialog.open()

    def _on_applied(self, agent: LocalAgent, plan: Plan, outcome: Exception | None) -> None:
        if outcome is not None:
            self._tell_failure(error_words(outcome))
            return
        undone = plan.connection is None
        words = self.tr("{} is as it was before.") if undone else self.tr("{} uses Pinfill from its next start.")
        undo = None if undone else (self.tr("Undo..."), lambda: self.undo(agent))
        self._tell(Notice(words.format(agent.title), action=undo))

    # -- the rest --------------------------------------------------------------------------------------------------

    def _with_local(self, act: Callable[[LocalAgent], None]) -> None:
        agent = self._facts.local if self._facts is not None else None
        if agent is not None:
            act(agent)

    def _launch(self, agent: LocalAgent) -> None:
        try:
            self._desk.launch(agent)
        except (AgentError, TerminalError) as error:
            self._tell_failure(error_words(error))
        else:
            self._tell(Notice(self.tr("{} starts in a terminal of its own.").format(agent.title)))

    def _on_copy(self) -> None:
        endpoint = self._desk.endpoint()
        if self._facts is None or endpoint is None:
            return
        try:
            copy(self._facts.agent.settings_text(endpoint))
        except AgentError as error:
            self._tell_failure(error_words(error))
        else:
            words = self.tr("The settings for {} are on the clipboard, with the key.")
            self._tell(Notice(words.format(self._facts.agent.title)))

    def _on_test(self) -> None:
        endpoint = self._desk.endpoint()
        if self._facts is None or endpoint is None:
            return
        name, told = self._facts.agent.name, self._facts.connection
        if told is not None and self._facts.state is State.connected:  # what the agent itself would ask
            endpoint = Endpoint(told.url, endpoint.key, told.model, told.context_length)
        self.tests[name] = None
        self._trials.send(endpoint, partial(self._on_tested, name))
        self.tested.emit()

    def _on_tested(self, name: str, outcome: TrialAnswer | Failure) -> None:
        self.tests[name] = outcome
        self.tested.emit()

    def _tell(self, notice: Notice) -> None:
        self._notices.withdraw("agents")
        self._notices.show_notice("agents", notice)

    def _tell_failure(self, words: str) -> None:
        self._tell(Notice(words, Weight.FAILURE))

    def _action(self, text: str, icon: str) -> QAction:
        action = QAction(text, self)
        set_icon(action, icon)
        return action
