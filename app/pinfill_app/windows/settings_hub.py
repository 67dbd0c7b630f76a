"""The token of Hugging Face: saved, forgotten, and never shown again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from pinfill_app.background import in_background
from pinfill_app.supervisor import Supervisor
from pinfill_app.theme import GRID
from pinfill_app.widgets.form import Note, Section
from pinfill_app.windows.notices import Notice, Notices, Weight
from pinfill_app.windows.page import Context
from pinfill_service.keys import KeyPlace
from pinfill_service.models.hub_token import FoundToken, TokenPlace, find_token, forget_token, is_token, save_token
from pinfill_service.secret_store import has_keyring

TOPIC = "token"
_FIELD = 14  # characters


@dataclass(frozen=True, slots=True)
class Looked:
    """`everywhere`: whether there is no place left where a token could be that comes before `found`."""

    everywhere: bool
    found: FoundToken | None


class HubSection(Section):
    """What may wait for a person at the keyring is done beside the GUI thread, one thing at a time.

    A look does not make the keyring ask for its password: without a person's wish it is looked into only when the API
    key was in it too, for then it is open.
    """

    def __init__(self, context: Context, notices: Notices, parent: QWidget | None = None) -> None:
        super().__init__("Hugging Face", parent)
        self._supervisor: Supervisor = context.supervisor
        self._notices = notices
        self._latest = 0  # of what was begun; what ends later than its successor began is not shown
        self.field = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self.field.setMinimumWidth(_FIELD * self.fontMetrics().averageCharWidth())
        self.save = QPushButton(self.tr("Sa&ve"), autoDefault=False)
        self.forget = QPushButton(self.tr("&Forget"), autoDefault=False)
        self.forget.setToolTip(self.tr("Deletes the token from this machine. At Hugging Face it stays valid."))
        self.save.setEnabled(False)
        self.forget.setEnabled(False)
        self.field.textChanged.connect(self._on_text)
        self.field.returnPressed.connect(self._on_save)
        self.save.clicked.connect(self._on_save)
        self.forget.clicked.connect(self._on_forget)
        self.add_wide(
            Note(
                self.tr(
                    "Models that are private, or whose licence has to be accepted first, ask for a token. It is sent "
                    "to Hugging Face alone, when a model is downloaded from there."
                )
            )
        )
        self.note = self.add(self.tr("Hu&b token"), self._row())
        self.field.setAccessibleName(self.tr("Access token of Hugging Face"))

    def look(self) -> None:
        """Asks where the token is."""
        if not self.field.isReadOnly():
            plan = self._supervisor.plan
            is_open = plan is not None and plan.key_place is KeyPlace.KEYRING
            self._begin(partial(_look, is_open), self._on_found)

    def _row(self) -> QWidget:
        row = QWidget()
        row.setFocusProxy(self.field)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        for widget in (self.field, self.save, self.forget):
            layout.addWidget(widget)
        return row

    # -- what a person does ----------------------------------------------------------------------------------------

    def _on_text(self, text: str) -> None:
        self.save.setEnabled(bool(text.strip()) and not self.field.isReadOnly())

    def _on_save(self) -> None:
        token = self.field.text().strip()
        if not self.save.isEnabled():
            return
        if not is_token(token):
            self._tell(self.tr("That is no token: copy it again, as a whole and without spaces."), Weight.FAILURE)
            return
        self._work()
        self._begin(partial(save_token, token), self._on_saved)

    def _on_forget(self) -> None:
        self._work()
        self._begin(forget_token, self._on_forgotten)

    def _work(self) -> None:
        self._notices.withdraw(TOPIC)
        self.note.setText(self.tr("The system keyring is asked. It may want its password."))
        self._lock(True)

    def _lock(self, is_locked: bool) -> None:
        self.field.setReadOnly(is_locked)  # not disabled: the focus stays
        self.forget.setEnabled(not is_locked)
        self._on_text(self.field.text())

    def _begin(self, work: Callable[[], object], done: Callable[[object], None]) -> None:
        self._latest += 1
        in_background(self, work, partial(self._on_end, self._latest, done))

    def _on_end(self, number: int, done: Callable[[object], None], outcome: object) -> None:
        if number == self._latest:
            done(outcome)

    # -- what came of it -------------------------------------------------------------------------------------------

    def _on_saved(self, outcome: object) -> None:
        self._lock(False)
        if not isinstance(outcome, FoundToken):
            self.note.setText("")
            self._tell(self.tr("The token could not be saved. {}").format(outcome), Weight.FAILURE)
            return
        self.field.clear()
        self._show(outcome)
        if outcome.place is TokenPlace.FILE:
            words = self.tr("This machine has no keyring, so the token is kept in {}, which only you can read.")
            self._tell(words.format(outcome.path), Weight.INFO)

    def _on_forgotten(self, outcome: object) -> None:
        self._lock(False)
        self.note.setText("")
        if isinstance(outcome, Exception):
            self._tell(self.tr("The token could not be forgotten. {}").format(outcome), Weight.FAILURE)
            return
        self._begin(lambda: Looked(True, find_token(ask_keyring=False)), self._on_found)  # there it is gone

    def _on_found(self, outcome: object) -> None:
        if not isinstance(outcome, Looked):
            self.forget.setEnabled(True)
            self._tell(str(outcome), Weight.FAILURE)
            return
        found = outcome.found
        if outcome.everywhere or (found is not None and found.place in (TokenPlace.VARIABLE, TokenPlace.FILE)):
            self._show(found)
            return
        self.forget.setEnabled(True)
        self.note.setText(self.tr("One in the system keyring is looked for when a model is downloaded."))

    def _show(self, found: FoundToken | None) -> None:
        self.forget.setEnabled(found is not None and found.place is not TokenPlace.LOGIN)
        self.note.setText(self._place(found))

    def _place(self, found: FoundToken | None) -> str:
        if found is None:
            return self.tr("There is none.")
        match found.place:
            case TokenPlace.VARIABLE:
                return self.tr("It comes from the variable HF_TOKEN, which wins over one that is saved here.")
            case TokenPlace.KEYRING:
                return self.tr("It is kept in the system keyring.")
            case TokenPlace.FILE:
                return self.tr("It is kept in {}, for this machine has no keyring.").format(found.path)
            case TokenPlace.LOGIN:
                return self.tr("It is the one of “hf auth login”, in {}.").format(found.path)

    def _tell(self, words: str, weight: Weight) -> None:
        self._notices.withdraw(TOPIC)
        self._notices.show_notice(TOPIC, Notice(words, weight))


def _look(keyring_is_open: bool) -> Looked:
    """Raises TokenError."""
    everywhere = keyring_is_open or not has_keyring()
    return Looked(everywhere, find_token(ask_keyring=everywhere))
