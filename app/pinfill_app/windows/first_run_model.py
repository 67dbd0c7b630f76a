"""The first step: a model that answers."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from pinfill_app import units
from pinfill_app.failure import Failure
from pinfill_app.failure_words import failure_words
from pinfill_app.models.found_model import models_text
from pinfill_app.refresher import Part
from pinfill_app.windows.first_run_step import Step
from pinfill_app.windows.page import Context
from pinfill_service.api.schemas.manage import ModelEntry, ModelStateEvent, ModelTask


class ModelStep(Step):
    """Loads a model that is here, or fetches one and loads it, or leads to those that other programs have."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        tr = QCoreApplication.translate
        about = tr(
            "ModelStep",
            "Pinfill answers with a language model that runs on this machine. Nothing you ask leaves it.",
        )
        super().__init__(tr("ModelStep", "A model"), about, context, parent)
        self._fetching = ""  # what is loaded when it is here
        store = context.store
        for changed in (store.status_changed, store.models_changed, store.progress_changed):
            changed.connect(self.render_state)
        context.supervisor.state_changed.connect(self.render_state)
        store.model_state_changed.connect(self._on_model_state)
        context.found.changed.connect(self.render_state)
        self.render_state()

    def render_state(self) -> None:
        store, not_yet = self.context.store, self.why_not()
        if not_yet is not None or store.status is None:
            self.tell(*(not_yet or ("",)))
        elif store.status.model is not None:
            model = store.status.model
            words = self.tr("{} is loaded. It takes {} at once.")
            self.tell(words.format(model.name, units.tokens(model.context_length)), done=True)
        elif store.status.model_state == "loading":
            self.tell(self.tr("The model is being loaded..."))
        elif store.running.pulls:
            self._tell_progress()
        else:
            self._offer(store.models)

    def _tell_progress(self) -> None:
        pull = next(iter(self.context.store.running.pulls.values()))
        share = pull.done / pull.total if pull.total else 0.0
        self.tell(self.tr("{} is being fetched: {}.").format(pull.name, units.percent(share)), share=share)

    def _offer(self, models: tuple[ModelEntry, ...]) -> None:
        here = [model for model in models if model.installed]
        others = self.tr("&Other models..."), partial(self.leave_for, "models")
        if here:
            loads = self.tr("&Load {}"), self.tr("Lo&ad {}"), self.tr("Loa&d {}")  # each has a key of its own
            choices = [
                (load.format(model.name), partial(self._load, model.name))
                for load, model in zip(loads, here, strict=False)
            ]
            self.tell(self.tr("There are models on this machine. Load one."), *choices, others)
            return
        self.context.found.look_once()
        fetches = self.tr("&Fetch {}, {}"), self.tr("F&etch {}, {}"), self.tr("Fe&tch {}, {}")
        offered = [model for model in models if model.in_catalogue][: len(fetches)]
        choices = [
            (fetch.format(model.title or model.name, units.size(model.bytes)), partial(self._fetch, model.name))
            for fetch, model in zip(fetches, offered, strict=False)
        ]
        choices.append((self.tr("&Import a file..."), partial(self.leave_for, "models", import_file=True)))
        licences = ", ".join(sorted({model.licence for model in offered if model.licence}))
        licence = licences or self.tr("not known")
        found = [model for model in self.context.found.models if model.can_be_imported]
        if found:
            words = self.tr("You have {}: importing one downloads nothing. Licence of what can be fetched: {}.")
            choose = self.tr("&Choose one to import..."), partial(self.leave_for, "models", found=True)
            self.tell(words.format(models_text(found), licence), choose, *choices)
            return
        words = self.tr("There is no model on this machine yet. Licence of what is offered here: {}.")
        self.tell(words.format(licence), *choices, others)

    def _fetch(self, name: str) -> None:
        self._fetching, self.failure = name, ""
        self.context.client.post(ModelTask, "models", name, "pull", done=self._on_answer)

    def _load(self, name: str) -> None:
        self.failure = ""
        self.tell(self.tr("The model is being loaded..."))
        self.context.client.post(ModelTask, "models", name, "load", done=self._on_answer, seconds=None)

    def _on_answer(self, answer: ModelTask | Failure) -> None:
        if isinstance(answer, Failure):
            self.failure = answer.message
        self.context.store.reload(Part.STATUS, Part.MODELS)
        self.render_state()

    def _on_model_state(self, event: ModelStateEvent) -> None:
        if event.name != self._fetching or not self._fetching:
            return
        if event.state == "pulled":
            self._fetching = ""
            self._load(event.name)
        elif event.state == "failed":
            self._fetching, self.failure = "", failure_words(event.code, event.message or "")
            self.render_state()
