"""A line of the table of models: what it is, whether it fits into memory, and what is being done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication

from pinfill_app import units
from pinfill_app.models.found_model import FoundModel, place_text
from pinfill_app.models.keyed_table import Column
from pinfill_service.api.schemas.manage import ModelEntry, ModelProgressEvent

NOTHING = "\N{EN DASH}"
# A loaded model takes more than its files: 1.6 times as much was measured with onnxruntime 1.32, which packs weights
# anew for its kernels. Told as "up to".
LOADED_FACTOR = 2
IN_BYTES = ("download", "unpack", "check", "copy")  # stages that count bytes; others count pieces


class Work(Enum):
    """What is being done with a model."""

    NOTHING = auto()
    PULLING = auto()
    STOPPING = auto()  # the pull
    LOADING = auto()
    DRAINING = auto()  # requests that run with another model end first
    IMPORTING = auto()


class Fit(Enum):
    FITS = auto()
    TIGHT = auto()  # until prefixes have filled their memory
    TOO_LARGE = auto()


@dataclass(frozen=True, slots=True)
class Memory:
    """In bytes: free on this machine, and what of it the prefixes may still take."""

    free: int
    for_prefixes: int = 0


@dataclass(frozen=True, slots=True)
class ModelRow:
    """`needs` is how many bytes of memory it takes, at most, besides prefixes; `memory` what there is. `found` is set
    for a model of another program only, which `found_row` makes a row of.
    """

    entry: ModelEntry
    memory: Memory
    work: Work = Work.NOTHING
    progress: ModelProgressEvent | None = None
    found: FoundModel | None = None

    @property
    def name(self) -> str:
        """Nobody else's: a model's name, or a found one's id, which has a colon."""
        return self.entry.name

    @property
    def shown_name(self) -> str:
        return self.entry.name if self.found is None else self.entry.title or self.entry.name

    @property
    def can_fit(self) -> bool:
        """Whether it is of use to know how much memory it takes, and known."""
        return self.found is None or (self.found.can_be_imported and self.found.bytes is not None)

    @property
    def needs(self) -> int:
        return LOADED_FACTOR * self.entry.bytes

    @property
    def fit(self) -> Fit:
        """Whether it can be loaded beside the one that is, which stays until the new one is ready."""
        if self.entry.loaded:
            return Fit.FITS
        if self.needs > self.memory.free:
            return Fit.TOO_LARGE
        return Fit.TIGHT if self.needs + self.memory.for_prefixes > self.memory.free else Fit.FITS


def found_row(
    model: FoundModel, memory: Memory, work: Work = Work.NOTHING, progress: ModelProgressEvent | None = None
) -> ModelRow:
    """A row for a model that can be imported, or that says why it cannot be."""
    entry = ModelEntry(
        name=model.id,
        title=model.title,
        licence=None,
        context_length=None,
        bytes=model.bytes or 0,
        installed=False,
        in_catalogue=False,
        loaded=False,
        pulling=False,
        source=None,
        outdated=None,
    )
    return ModelRow(entry, memory, work, progress, model)


def columns() -> list[Column[ModelRow]]:
    tr = QCoreApplication.translate
    return [
        Column(tr("models", "Model"), lambda row: row.shown_name, 24, tip=_name_tip),
        Column(tr("models", "Licence"), lambda row: row.entry.licence or NOTHING, 14),
        Column(
            tr("models", "In memory"),
            fit_text,
            30,
            tip=lambda row: fit_sentence(row) if row.can_fit else NOTHING,
            explanation=tr("models", "How much it takes while it is loaded, of what is free on this computer"),
        ),
        Column(tr("models", "State"), state_text, None),
        Column(tr("models", "Context"), _context, 10, True, explanation=tr("models", "The longest prompt, in tokens")),
        Column(tr("models", "Size"), _size, 10, True),
    ]


STATE_COLUMN = 3


def amounts(row: ModelRow) -> tuple[float, float, float] | None:
    """For the bar: (cached, processed, total); None without one."""
    if row.progress is None or not row.progress.total:
        return None
    return 0.0, float(row.progress.done), float(row.progress.total)


def fit_text(row: ModelRow) -> str:
    """fits, up to 218 MB of 10 GB"""
    tr = QCoreApplication.translate
    if row.entry.loaded:
        return tr("models", "loaded")
    if not row.can_fit:
        return NOTHING
    word = {
        Fit.FITS: tr("models", "fits"),
        Fit.TIGHT: tr("models", "tight"),
        Fit.TOO_LARGE: tr("models", "too large"),
    }[row.fit]
    return tr("models", "{}, up to {} of {}").format(word, units.size(row.needs), units.size(row.memory.free))


def fit_sentence(row: ModelRow) -> str:
    """The verdict with its numbers, and what to do."""
    tr, needs, free = QCoreApplication.translate, units.size(row.needs), units.size(row.memory.free)
    if row.entry.loaded:
        return tr("models", "It is in memory: up to {}.").format(needs)
    match row.fit:
        case Fit.FITS:
            words = tr("models", "It fits into memory: it needs up to {}, and {} are free.")
            return words.format(needs, free)
        case Fit.TIGHT:
            words = tr(
                "models",
                "Memory is tight: it needs up to {}, prefixes may take {} more, and {} are free. Close other programs, "
                "or give prefixes less in the settings.",
            )
            return words.format(needs, units.size(row.memory.for_prefixes), free)
        case Fit.TOO_LARGE:
            words = tr("models", "It does not fit into memory: it needs up to {}, and {} are free. {}")
            advice = tr("models", "Close other programs, or choose a smaller model.")
            return words.format(needs, free, advice)


def state_text(row: ModelRow) -> str:
    """loaded, on this computer, downloading 48 MB of 98 MB, ..."""
    tr = QCoreApplication.translate
    match row.work:
        case Work.PULLING:
            return stage_text(row.progress)
        case Work.STOPPING:
            return tr("models", "stopping")
        case Work.LOADING:
            return tr("models", "loading")
        case Work.DRAINING:
            return tr("models", "waiting until running requests have ended")
        case Work.IMPORTING:
            return tr("models", "importing") if row.progress is None else stage_text(row.progress)
    if row.found is not None:
        place = place_text(row.found)
        return place if row.found.can_be_imported else tr("models", "{}, cannot be imported").format(place)
    if row.entry.loaded:
        return tr("models", "loaded")
    if row.entry.outdated:
        return tr("models", "made by an older Pinfill")
    return tr("models", "on this computer") if row.entry.installed else tr("models", "can be pulled")


def stage_text(progress: ModelProgressEvent | None) -> str:
    """downloading 48 MB of 98 MB; converting 3 of 30"""
    tr = QCoreApplication.translate
    if progress is None:
        return tr("models", "pulling")
    words = {
        "download": tr("models", "downloading"),
        "unpack": tr("models", "unpacking"),
        "check": tr("models", "checking"),
        "copy": tr("models", "copying"),
        "layers": tr("models", "converting"),
        "waiting": tr("models", "waiting for another program that works on it"),
    }
    word = words.get(progress.stage, progress.stage)
    if progress.stage == "waiting":
        return word
    show: Callable[[int], str] = units.size if progress.stage in IN_BYTES else units.number
    if progress.total is None:
        return tr("models", "{} {}").format(word, show(progress.done))
    return tr("models", "{} {} of {}").format(word, show(progress.done), show(progress.total))


def _name_tip(row: ModelRow) -> str:
    return row.entry.title or row.name if row.found is None else row.found.shown_id


def _size(row: ModelRow) -> str:
    return NOTHING if row.found is not None and row.found.bytes is None else units.size(row.entry.bytes)


def _context(row: ModelRow) -> str:
    return NOTHING if row.entry.context_length is None else units.number(row.entry.context_length)
