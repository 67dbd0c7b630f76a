"""The second step: a pin, made from a sample rubric."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from pinfill_app import units
from pinfill_app.commands import Output
from pinfill_app.failure import Failure
from pinfill_app.failure_words import error_words, reason_words
from pinfill_app.refresher import Part
from pinfill_app.tray_actions import copy
from pinfill_app.windows.first_run_step import Step
from pinfill_app.windows.page import Context
from pinfill_service.api.schemas.manage import Pin
from pinfill_service.resources import ResourceMissingError, resource

SAMPLE, NAME = "samples/essay-rubric.md", "essay-rubric"


class PinStep(Step):
    """Pins the sample, or shows what is pinned already."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        tr = QCoreApplication.translate
        about = tr(
            "PinStep",
            "A pin is a text that many requests begin with: instructions, a rubric, a handbook. Pinfill evaluates it "
            "once and keeps it warm; requests that begin with it start at once.",
        )
        super().__init__(tr("PinStep", "A pin"), about, context, parent)
        self._asked = False
        store = context.store
        for changed in (store.status_changed, store.pins_changed, store.progress_changed):
            changed.connect(self.render_state)
        context.supervisor.state_changed.connect(self.render_state)
        self.render_state()

    def render_state(self) -> None:
        store, not_yet = self.context.store, self.why_not()
        if not_yet is not None or store.status is None:
            self.tell(*(not_yet or ("",)))
        elif store.status.model is None:
            self.tell(self.tr("A pin is made for a model. Go back and load one first."))
        elif store.pins:
            self._tell_pin(next((pin for pin in store.pins if pin.name == NAME), store.pins[0]))
        elif self._asked:
            self.tell(self.tr("The rubric is being read..."))
        else:
            words = self.tr("Pinfill comes with a sample: a rubric for rating short essays, about 1,900 tokens.")
            sample = self.tr("&Pin the sample rubric"), self._pin
            own = self.tr("Pin a &document of mine..."), partial(self.leave_for, "prefixes", pin_file=True)
            self.tell(words, sample, own)

    def _tell_pin(self, pin: Pin) -> None:
        running = self.context.store.running.pins.get(pin.name)
        if pin.state in ("queued", "prefilling"):
            share = running.done / running.total if running is not None and running.total else 0.0
            self.tell(self.tr("{} is being prefilled: {}.").format(pin.name, units.percent(share)), share=share)
        elif pin.use_as is None or pin.state == "failed":
            self.tell(self.tr("{} cannot be used. {}").format(pin.name, reason_words(pin.state, pin.reason or "")))
        else:
            words = self.tr(
                "{} is pinned: {} that are not evaluated again. To use it, choose this model in any program: {}"
            )
            use = self.tr("&Copy the model's name"), partial(copy, pin.use_as)
            self.tell(words.format(pin.name, units.tokens(pin.tokens), pin.use_as), use, done=True)

    def _pin(self) -> None:
        self.failure = ""
        try:
            sample = resource(SAMPLE)
        except ResourceMissingError as error:
            self.failure = error_words(error)
            self.render_state()
            return
        self._asked = True
        self.context.commands.run("pin", "--no-wait", "--name", NAME, "--", str(sample), done=self._on_pinned)
        self.render_state()

    def _on_pinned(self, outcome: Output | Failure) -> None:
        self._asked = False
        if isinstance(outcome, Failure):
            self.failure = outcome.message
        self.context.store.reload(Part.PINS)
        self.render_state()
