"""Settings of the service: memory and disk, the model, the network, and the rules that keep prompts stable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QCoreApplication, QSignalBlocker
from PySide6.QtNetwork import QAbstractSocket, QHostInfo, QNetworkInterface
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QLineEdit, QSpinBox, QWidget

from pinfill_app import rule_words, units
from pinfill_app.service_settings import NextStart
from pinfill_app.widgets.form import Note, Section, check_box, number_box
from pinfill_service.api.schemas.manage import PromptRule
from pinfill_service.keys import is_loopback
from pinfill_service.settings import MIB

Change = Callable[[Mapping[str, Any]], None]

MOST_MIB = 1 << 20
LONGEST_CONTEXT = 1 << 20
SHORTEST_CONTEXT = 16
EVERYWHERE = "0.0.0.0"
_NAMES = 40  # characters


class MemorySection(Section):
    """How much may be kept, and what of it."""

    def __init__(self, change: Change, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("MemorySection", "Memory and disk"), parent)
        self.memory = number_box(0, MOST_MIB, 256, " MiB", lambda value: change({"memory_budget_mib": value}))
        self.disk = number_box(0, MOST_MIB, 256, " MiB", lambda value: change({"disk_budget_mib": value}))
        self.sessions = check_box(
            self.tr("Keep prefixes that are &not pinned on disk too"), lambda on: change({"keep_sessions": on})
        )
        self.history = check_box(self.tr("Keep the texts of re&quests"), lambda on: change({"history": on}))
        self._memory_note = self.add(self.tr("&Memory for prefixes"), self.memory)
        self._disk_note = self.add(self.tr("&Disk for prefixes"), self.disk)
        self.add("", self.sessions, self.tr("They survive a restart. They hold what was said in conversations."))
        self.add(
            "",
            self.history,
            self.tr("Activity then shows them after a restart too. Turned off, what was kept is deleted."),
        )

    def show_values(self, values: Mapping[str, Any], start: NextStart) -> None:
        _set_number(self.memory, values["memory_budget_mib"])
        _set_number(self.disk, values["disk_budget_mib"])
        self.sessions.setChecked(values["keep_sessions"])
        self.history.setChecked(values["history"])
        of_memory = self.tr("{} of the {} in this machine.")
        self._memory_note.setText(
            of_memory.format(units.size(self.memory.value() * MIB), units.size(start.memory_bytes))
        )
        none = self.tr("0: pins are prefilled again after a restart.")
        of_disk = self.tr("{}; {} are free.").format(
            units.size(self.disk.value() * MIB), units.size(start.free_disk_bytes)
        )
        self._disk_note.setText(of_disk if self.disk.value() else none)
        names = ("memory_budget_mib", "disk_budget_mib", "keep_sessions", "history")
        _lock(dict(zip(names, (self.memory, self.disk, self.sessions, self.history), strict=True)), start)


class ModelSection(Section):
    """How the model is run."""

    def __init__(self, change: Change, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("ModelSection", "Model"), parent)
        self.context_length = number_box(0, LONGEST_CONTEXT, 1024, "", partial(self._on_context, change))
        self.context_length.setSpecialValueText(self.tr("what the model allows"))
        self.threads = number_box(1, 256, 1, "", lambda value: change({"threads": value}))
        self.add(self.tr("C&ontext length"), self.context_length, self.tr("Tokens. A shorter one needs less memory."))
        self._threads_note = self.add(self.tr("Th&reads"), self.threads)

    def show_values(self, values: Mapping[str, Any], start: NextStart) -> None:
        _set_number(self.context_length, values["context_length"] or 0)
        _set_number(self.threads, values["threads"])
        words = self.tr("This machine has {} cores. More threads than cores make it slower.")
        self._threads_note.setText(words.format(units.number(start.cores)))
        _lock({"context_length": self.context_length, "threads": self.threads}, start)

    def _on_context(self, change: Change, value: int) -> None:
        if 0 < value < SHORTEST_CONTEXT:
            self.context_length.setValue(SHORTEST_CONTEXT)
        else:
            change({"context_length": value or None})


class NetworkSection(Section):
    """Where the service listens, and who may come."""

    def __init__(self, change: Change, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("NetworkSection", "Network"), parent)
        self._change = change
        self.port = number_box(1024, 65_535, 1, "", lambda value: change({"port": value}))
        self.port.setGroupSeparatorShown(False)
        self.open = check_box(self.tr("Let other machines &use the service"), self._on_open)
        self.names = QLineEdit()
        self.names.setMinimumWidth(_NAMES * self.fontMetrics().averageCharWidth())
        self.names.editingFinished.connect(self._on_names)
        self.add(self.tr("&Port"), self.port)
        risk = self.tr(
            "Everyone who can reach this machine and has the key can then use the model, see what is cached, and evict "
            "it. The connection is not encrypted: whoever can listen can read the key and all prompts. Do this only in "
            "a network you trust."
        )
        self._open_note = self.add("", self.open, risk)
        names = self.tr("By which others reach this machine, with commas between them. Other names are refused.")
        self.add(self.tr("N&ames and addresses"), self.names, names)

    def show_values(self, values: Mapping[str, Any], start: NextStart) -> None:
        _set_number(self.port, values["port"])
        is_open = not is_loopback(values["host"])
        self.open.setChecked(is_open)
        if not self.names.hasFocus():
            self.names.setText(", ".join(values["allowed_hosts"]))
        _lock({"port": self.port, "host": self.open, "allowed_hosts": self.names}, start)
        self.names.setEnabled(is_open and self.names.isEnabled())
        if values["no_key"] and not is_open:
            self.open.setEnabled(False)
            self.open.setToolTip(self.tr("It needs the API key: take no_key out of settings.toml first."))

    def _on_open(self, wanted: bool) -> None:
        if wanted:
            self._change({"host": EVERYWHERE, "allowed_hosts": own_names()})
        else:
            self._change({"host": None, "allowed_hosts": None})

    def _on_names(self) -> None:
        if self.names.isModified():
            self.names.setModified(False)
            given = [name.strip() for name in self.names.text().split(",")]
            self._change({"allowed_hosts": [name for name in given if name]})


class RulesSection(Section):
    """The rules that the service lists, whichever they are."""

    def __init__(self, change: Change, parent: QWidget | None = None) -> None:
        super().__init__(QCoreApplication.translate("RulesSection", "Rules for stable prompts"), parent)
        self._change = change
        self.boxes: dict[str, QCheckBox] = {}
        words = self.tr("What they change in requests before they become prompts, so that less has to be prefilled.")
        self.add_wide(Note(words))

    def show_rules(self, rules: Sequence[PromptRule]) -> None:
        self.setVisible(bool(rules))
        for rule in rules:
            if rule.name not in self.boxes:
                box = check_box(rule_words.title(rule).replace("&", "&&"), self._switch(rule.name))
                self.boxes[rule.name] = box
                self.add("", box, rule_words.description(rule))
            self.boxes[rule.name].setChecked(rule.on)

    def _switch(self, name: str) -> Callable[[bool], None]:
        return lambda on: self._change({"rules": {name: on}})


def own_names() -> list[str]:
    """The name and the addresses of this machine in its networks."""
    found = [QHostInfo.localHostName()]
    for address in QNetworkInterface.allAddresses():
        if not address.isLoopback() and address.protocol() is QAbstractSocket.NetworkLayerProtocol.IPv4Protocol:
            found.append(address.toString())
    return [name for name in found if name]


def _set_number(box: QSpinBox, value: int) -> None:
    with QSignalBlocker(box):
        box.setValue(value)


def _lock(controls: Mapping[str, QSpinBox | QAbstractButton | QLineEdit], start: NextStart) -> None:
    """What the environment sets cannot be changed here."""
    words = QCoreApplication.translate("SettingsPage", "Set by the variable {}, which wins over what is chosen here.")
    for name, control in controls.items():
        fixed = name in start.fixed
        control.setEnabled(not fixed)
        control.setToolTip(words.format(f"PINFILL_{name.upper()}") if fixed else "")
