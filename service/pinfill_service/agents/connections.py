"""Writing Pinfill into the configuration of agents, taking it back, and writing it anew when the address changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pinfill_service.agents import config_file
from pinfill_service.agents.agent import AgentError, ConfigFile, Endpoint, Environ, LocalAgent
from pinfill_service.agents.config_file import PRIVATE, Content, Text
from pinfill_service.agents.diffs import diff
from pinfill_service.agents.editors import editor_of
from pinfill_service.agents.editors.editor import EditError
from pinfill_service.agents.edits import is_ours, put, take_back
from pinfill_service.agents.record import ChangedFile, Connection, Record


class State(StrEnum):
    """Whether an agent's files say what Pinfill wrote: all of it, not all of it any more, or it never wrote any."""

    connected = "connected"
    changed = "changed"
    not_connected = "not connected"


@dataclass(frozen=True, slots=True)
class FileChange:
    """What happens to one file. `diff` is a unified diff in which keys are masked, "" when nothing changes."""

    path: Path
    diff: str
    before: Content = field(repr=False)
    after: Content = field(repr=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that were shown and can be made. `left` are values that somebody changed and that therefore stay."""

    agent: str
    files: Sequence[FileChange]
    connection: Connection | None
    left: Sequence[str] = ()

    @property
    def changes_nothing(self) -> bool:
        return not any(each.diff for each in self.files)

    @property
    def diff(self) -> str:
        return "".join(each.diff for each in self.files)


class Connections:
    """The agents that one Pinfill folder is connected to.

    Methods raise AgentError. Nothing is written but by `apply` and `refresh`; a file that changed since its plan was
    made is left alone.
    """

    def __init__(self, home: Path, environ: Environ) -> None:
        self._record = Record(home)
        self._environ = environ

    def state(self, agent: LocalAgent) -> State:
        """What the agent's files say now."""
        connection = self.connection(agent)
        if connection is None:
            return State.not_connected
        try:
            intact = all(_is_intact(file) for file in connection.files)
        except EditError:
            return State.changed
        return State.connected if intact else State.changed

    def connection(self, agent: LocalAgent) -> Connection | None:
        """What the agent was told, and where; None when it is not connected."""
        return self._record.all().get(agent.name)

    def plan(self, agent: LocalAgent, endpoint: Endpoint) -> Plan:
        """What connecting would change. What an earlier connection replaced stays remembered."""
        known = self.connection(agent)
        before = {file.path: file for file in known.files} if known is not None else {}
        made = [_plan_file(file, before.get(file.path), endpoint) for file in agent.files(endpoint, self._environ)]
        files, changed = [each for each, _ in made], [each for _, each in made]
        changed += [file for path, file in before.items() if path not in {each.path for each in changed}]
        told = Connection(
            url=endpoint.url, model=endpoint.model, context_length=endpoint.context_length, files=tuple(changed)
        )
        return Plan(agent.name, files, told)

    def plan_undo(self, agent: LocalAgent) -> Plan:
        """What taking it back would change.

        A file that nobody else changed becomes what it was, byte for byte; of others, Pinfill's values do.
        """
        connection = self.connection(agent)
        if connection is None:
            raise AgentError(f"{agent.title} was not connected by Pinfill, so there is nothing to undo.")
        made = [self._plan_undo_file(file) for file in connection.files]
        left = [f"{each.path}: {name}" for each, names in made for name in names]
        return Plan(agent.name, [each for each, _ in made], None, left)

    def apply(self, plan: Plan) -> None:
        """Makes the changes, whole files at a time. The record is written first: whatever happens, it can be undone."""
        with self._record.locked():
            for each in plan.files:
                if config_file.read(each.path).data != each.before.data:
                    raise AgentError(f"{each.path} has changed in the meantime. Try again.")
            if plan.connection is None:
                self._take_back(plan)
            else:
                self._write(plan, plan.connection)

    def refresh(self, agents: Sequence[LocalAgent], url: str, key: str | None) -> dict[str, AgentError | None]:
        """Writes another address into the agents that are connected and still as they were written.

        Returns for each of them, by name, None or why it could not be done.
        """
        outcome: dict[str, AgentError | None] = {}
        for agent in agents:
            try:
                connection = self.connection(agent)
                if connection is None or self.state(agent) is not State.connected:
                    continue
                told = Endpoint(url, key, connection.model, connection.context_length)
                self.apply(self.plan(agent, told))
                outcome[agent.name] = None
            except AgentError as error:
                outcome[agent.name] = error
        return outcome

    def _write(self, plan: Plan, connection: Connection) -> None:
        kept, files = self._record.all().get(plan.agent), []
        known = {file.path: file for file in kept.files} if kept is not None else {}
        changes = {each.path: each for each in plan.files}
        for number, file in enumerate(connection.files):
            folders, backup = config_file.make_folders(file.path), file.backup
            data = changes[file.path].before.data if file.path in changes else None
            if file.path not in known and data is not None:
                backup = self._record.keep(f"{plan.agent}-{number}.backup", data)
            files.append(file.model_copy(update={"backup": backup, "folders": (*folders, *file.folders)}))
        self._record.put(plan.agent, connection.model_copy(update={"files": tuple(files)}))
        for each in plan.files:
            config_file.write(each.path, each.after)

    def _take_back(self, plan: Plan) -> None:
        connection = self._record.all().get(plan.agent)
        for each in plan.files:
            config_file.write(each.path, each.after)
        for file in connection.files if connection is not None else ():
            for folder in file.folders:
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()
        self._record.put(plan.agent, None)
        for file in connection.files if connection is not None else ():
            if file.backup is not None:
                self._record.discard(file.backup)

    def _plan_undo_file(self, file: ChangedFile) -> tuple[FileChange, list[str]]:
        before = config_file.read(file.path)
        if before.data is None:
            return FileChange(file.path, "", before, before), []
        backup = None if file.backup is None else self._record.backup(file.backup)
        left: list[str] = []
        if before.sha256 == file.whole and (backup is not None or file.backup is None):
            after = Content(backup, file.before_mode)
        else:
            text = Text.of(file.path, before.data)
            try:
                taken_back, left = take_back(file.format, text.text, file.changes)
                nothing = file.backup is None and not editor_of(file.format).keys(taken_back, ())
            except EditError as error:
                raise _cannot_edit(file.path, error) from error
            after = Content(None if nothing else text.encode(taken_back), before.mode if left else file.before_mode)
        return FileChange(file.path, diff(file.path, before, after, ()), before, after), left


def _is_intact(file: ChangedFile) -> bool:
    text = Text.of(file.path, config_file.read(file.path).data).text
    return all(is_ours(file.format, text, change) for change in file.changes)


def _plan_file(file: ConfigFile, known: ChangedFile | None, endpoint: Endpoint) -> tuple[FileChange, ChangedFile]:
    before = config_file.read(file.path)
    text = Text.of(file.path, before.data)
    try:
        new, changes = put(file.format, text.text, file.values, known.changes if known is not None else ())
    except EditError as error:
        raise _cannot_edit(file.path, error) from error
    holds_key = endpoint.key is not None and any(endpoint.key in str(value) for value in file.values.values())
    after = Content(text.encode(new), before.mode & PRIVATE if holds_key else before.mode)
    changed = ChangedFile(
        path=file.path,
        format=file.format,
        backup=None if known is None else known.backup,
        before_mode=before.mode if known is None else known.before_mode,
        whole=after.sha256 if known is None or known.whole == before.sha256 else None,
        folders=() if known is None else known.folders,
        changes=changes,
    )
    return FileChange(file.path, diff(file.path, before, after, (endpoint.secret,)), before, after), changed


def _cannot_edit(path: Path, error: EditError) -> AgentError:
    return AgentError(f"{path} {error}, so it is left alone. Paste the settings into it, or put that right.")
