"""Keeps one service running: finds it, or starts it as a child and looks after it."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto

from pydantic import BaseModel
from PySide6.QtCore import QObject, QTimer, Signal

from pinfill_app import units
from pinfill_app.background import in_background
from pinfill_app.client import Call, Client
from pinfill_app.discovery import Found, free_port, running_service, url_of, who_listens
from pinfill_app.ending import Ending
from pinfill_app.failure import Failure, FailureKind
from pinfill_app.failure_words import error_words
from pinfill_app.heartbeat import Heartbeat
from pinfill_app.plan import Plan
from pinfill_app.service_log import ServiceLog
from pinfill_app.service_process import Ended, ServiceProcess
from pinfill_app.service_state import ServiceState
from pinfill_app.supervision_limits import Limits
from pinfill_app.unit_waiting import UnitWaiting
from pinfill_app.user_unit import UserUnit
from pinfill_app.wording import how_it_ended
from pinfill_service import __version__

SAME_SECONDS = 2.0


class _Wish(Enum):
    """What is to come after the service has ended."""

    RUN = auto()  # it ended against our will
    RESTART = auto()
    STOP = auto()


class _Version(BaseModel):
    """What every version of the status has."""

    version: str


class Supervisor(QObject):
    """One service: our child (`is_owner`), or one that was found running.

    `state_changed` follows every change of `state`, `message`, which is for people (why it failed or restarts), and
    `is_silent`: it could be asked, and has not answered for a while.
    `connected` carries (url, key) when a service can be asked, `disconnected` says that it cannot any more.
    `port_changed` carries (wanted, new, who has the wanted one or ""). `other_version_found` carries its version.
    `unit_failed`: systemd's unit was expected to run the service, and did not; one of ours was started instead.
    `stopped` follows `stop`, when nothing of ours runs any more.
    """

    state_changed = Signal()
    connected = Signal(str, object)
    disconnected = Signal()
    port_changed = Signal(int, int, str)
    other_version_found = Signal(str)
    unit_failed = Signal()
    stopped = Signal()

    def __init__(
        self,
        make_plan: Callable[[], Plan],
        limits: Limits | None = None,
        parent: QObject | None = None,
        unit: UserUnit | None = None,
    ) -> None:
        """`make_plan` is called beside the GUI thread before every start. `unit` may run the service instead of us."""
        super().__init__(parent)
        self._make_plan, self._limits = make_plan, limits or Limits()
        self.state = ServiceState.STOPPED
        self.message = ""
        self.is_owner = False
        self.is_silent = False
        self.given_up_at = 0.0  # Unix time; by then one that stays silent counts as hung
        self.url = ""
        self.plan: Plan | None = None
        self._process: ServiceProcess | None = None
        self._log: ServiceLog | None = None
        self._wish = _Wish.RUN
        self._starts = 0  # numbers the attempts, so that a late answer to an earlier one is known as such
        self._failures = 0  # in a row
        self._ready_since: float | None = None  # monotonic seconds
        self._hung = ""  # in words, when that is why it was killed
        self._is_connected = False
        self._client = Client(self)  # its own: the one of the pages is told only of a service that can be used
        self._question: Call[_Version] | None = None
        self._heartbeat = Heartbeat(self._limits, self)
        self._heartbeat.answered.connect(self._on_answered)
        self._heartbeat.missed.connect(self._on_missed)
        self._ending = Ending(self._limits.stop, self)
        self._ending.ended.connect(self._prepare)
        self._ending.refused.connect(self._fail)
        self._retry = QTimer(self, singleShot=True)
        self._retry.timeout.connect(self._prepare)
        self._unit = UnitWaiting(unit, self._limits.unit, self)
        self._unit.came.connect(self._on_unit_came)
        self._unit.unwanted.connect(self._on_unit_missing)
        self._unit.failed.connect(self.unit_failed)
        self._unit.failed.connect(self._on_unit_missing)
        self._load_limit = QTimer(self, singleShot=True, interval=self._limits.load)
        self._load_limit.timeout.connect(self._on_load_limit)

    # -- what people ask for ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Attaches to the running service, or starts one."""
        if self.state in (ServiceState.STOPPED, ServiceState.FAILED) and self._process is None:
            self._failures = 0
            self._unit.forgive()
            self._disconnect()
            self._prepare()

    def restart(self) -> None:
        """Ends the service in order, ours or not, and starts one."""
        self._failures = 0
        self._unit.forgive()
        self._starts += 1
        self._wish = _Wish.RESTART
        self._disconnect()
        self._set(ServiceState.RESTARTING)
        found = running_service(self.plan.home) if self._process is None and self.plan is not None else None
        if self._process is not None:
            self._process.stop()
        elif found is not None:
            self._ending.begin(found.pid)
        else:
            self._prepare()

    def stop(self) -> None:
        """Ends the service if it is ours; one that was found is left alone."""
        self._starts += 1
        self._wish = _Wish.STOP
        self._disconnect()
        if self._process is not None:
            self._process.stop()
        else:
            self._finish_stop()

    def end_now(self) -> None:
        """Ends a service that is ours and waits for it: the session is over."""
        self._wish = _Wish.STOP
        if self._process is not None:
            self._process.end_now()

    def set_busy(self, busy: bool) -> None:
        """Whether the service works for somebody, as its events tell."""
        if self.state.answers:
            self._set(ServiceState.BUSY if busy else ServiceState.READY)

    # -- starting --------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self._set(ServiceState.STARTING)
        self._starts += 1
        number = self._starts
        in_background(self, self._make_plan, lambda plan: self._on_planned(number, plan))

    def _on_planned(self, number: int, plan: Plan | Exception) -> None:
        if number != self._starts:
            return
        if isinstance(plan, Exception):
            self._fail(error_words(plan))
            return
        self.plan, self._wish, self._hung, self._ready_since = plan, _Wish.RUN, "", None
        found = running_service(plan.home)
        if found is not None:
            self._attach(plan, found)
        elif self._unit.is_wanted:
            self._unit.begin(plan.home)
        else:
            self._spawn(plan)

    def _on_unit_came(self, found: Found) -> None:
        if self.plan is not None:
            self._attach(self.plan, found)

    def _on_unit_missing(self) -> None:
        if self.plan is not None:
            self._spawn(self.plan)

    def _attach(self, plan: Plan, found: Found) -> None:
        self.is_owner = False
        self._set(ServiceState.LOADING)
        self._watch(url_of(plan.host, found.port))

    def _spawn(self, plan: Plan) -> None:
        port = free_port(plan.host, plan.port)
        if port is None:
            self._fail(self.tr("No port from {} on is free. Set another one in settings.toml.").format(plan.port))
            return
        try:
            self._log = self._log or ServiceLog(plan.home)
        except OSError as error:
            self._fail(self.tr("{} cannot be used: {}.").format(plan.home, error.strerror or error))
            return
        if plan.port not in (0, port):
            wanted = plan.port
            in_background(self, lambda: who_listens(wanted), lambda who: self._tell_port(wanted, port, who))
        self.is_owner = True
        self._process = ServiceProcess(self._log, self._limits.stop, self)
        self._process.ended.connect(self._on_ended)
        self._watch(url_of(plan.host, port))
        self._process.start(plan.command(port), plan.environment(), plan.home)

    def _watch(self, url: str) -> None:
        self.url = url
        self._load_limit.start()
        self._heartbeat.watch(url)

    def _tell_port(self, wanted: int, new: int, who: str | Exception | None) -> None:
        self.port_changed.emit(wanted, new, who if isinstance(who, str) else "")

    # -- signs of life ---------------------------------------------------------------------------------------------

    def _on_answered(self) -> None:
        self._set_silent(False)
        if self._is_connected or self.plan is None:
            return
        if self.state in (ServiceState.STOPPED, ServiceState.FAILED) and running_service(self.plan.home) is None:
            return  # a stranger has the port by now
        self._load_limit.stop()
        if self._question is None:
            self._client.connect_to(self.url, self.plan.key)
            self._question = self._client.get(_Version, "status", done=self._on_version)

    def _on_version(self, answer: _Version | Failure) -> None:
        self._question = None
        if isinstance(answer, _Version):
            self._is_connected, self._ready_since = True, time.monotonic()
            self._set(ServiceState.READY)
            self.connected.emit(self.url, self.plan.key if self.plan is not None else None)
            if answer.version != __version__:
                self.other_version_found.emit(answer.version)
        elif answer.kind is FailureKind.NOT_UNDERSTOOD:
            self._fail(answer.message)
            self.other_version_found.emit("")
        elif answer.kind in (FailureKind.KEY_REFUSED, FailureKind.REFUSED):
            self._fail(answer.message)
        # anything else is asked again after the next sign of life

    def _on_missed(self, misses: int) -> None:
        found = running_service(self.plan.home) if self.plan is not None else None
        if not self.is_owner and found is None and self.state is not ServiceState.STOPPED:
            self._disconnect()
            self._set(ServiceState.STOPPED, self.tr("The service has ended. It was not started by this window."))
            self._heartbeat.wait_for(self.url)  # whoever started it may do so again
        elif self.state is ServiceState.STARTING and found is not None:
            self._set(ServiceState.LOADING)  # it has the folder, and loads its model before it answers
        elif self._is_connected and misses >= self._limits.misses:
            self._on_hung(self.tr("It did not answer {} times in a row.").format(misses))
        elif self._is_connected and misses >= self._limits.silent:
            self._expect_end(self._limits.misses - misses)

    def _expect_end(self, misses: int) -> None:
        """So many more may be missed. A time that was told stays as it is while it is about right."""
        given_up_at = time.time() + misses * (self._limits.probe + self._limits.answer) / 1000
        moved = abs(given_up_at - self.given_up_at) >= SAME_SECONDS
        if moved:
            self.given_up_at = given_up_at
        if moved or not self.is_silent:
            self.is_silent = True
            self.state_changed.emit()

    def _set_silent(self, silent: bool) -> None:
        if self.is_silent != silent:
            self.is_silent = silent
            self.state_changed.emit()

    def _on_load_limit(self) -> None:
        self._on_hung(self.tr("It was not ready after {}.").format(units.duration(self._limits.load / 1000)))

    def _on_hung(self, words: str) -> None:
        if self._process is not None:
            self._hung = words
            self._process.kill()
        else:
            self._fail(self.tr("The service at {} hangs. {} Restart it.").format(self.url, words))
            self._heartbeat.wait_for(self.url)  # it may recover

    # -- ends ------------------------------------------------------------------------------------------------------

    def _on_ended(self, ended: Ended) -> None:
        if self._process is not None:
            self._process.deleteLater()
            self._process = None
        self._disconnect()
        match self._wish:
            case _Wish.STOP:
                self._finish_stop()
            case _Wish.RESTART:
                self._prepare()
            case _Wish.RUN:
                self._on_crashed(ended)

    def _on_crashed(self, ended: Ended) -> None:
        """It ended by itself: started again, unless it said why it cannot run or has ended too often."""
        if self._ready_since is not None and (time.monotonic() - self._ready_since) * 1000 >= self._limits.steady:
            self._failures = 0
        another = running_service(self.plan.home) if self.plan is not None else None
        if ended.refusal is not None and self._ready_since is None and another is None:
            self._fail(ended.refusal)
        elif ended.could_not_start is not None:
            self._fail(self.tr("The service cannot be started: {}.").format(ended.could_not_start))
        else:
            self._try_again(self._hung or how_it_ended(ended))

    def _try_again(self, why: str) -> None:
        """The log keeps why: what a window tells is gone when the service answers again."""
        if self._log is not None:
            self._log.write_error(why.split("\n", 1)[0])
        if self._failures >= len(self._limits.restarts):
            often = self.tr("The service ended {} times in a row.").format(self._failures + 1)
            self._fail(f"{often} {why}")
        else:
            self._set(ServiceState.RESTARTING, why)
            self._retry.start(self._limits.restarts[self._failures])
            self._failures += 1

    def _finish_stop(self) -> None:
        if self._log is not None:
            self._log.close()
        self._set(ServiceState.STOPPED)
        self.stopped.emit()

    def _fail(self, message: str) -> None:
        self._disconnect()
        self._set(ServiceState.FAILED, message)

    def _disconnect(self) -> None:
        """Nothing is expected of a service any more, nor of a start that was planned."""
        for timer in (self._retry, self._load_limit):
            timer.stop()
        self._unit.stop()
        self._heartbeat.stop()
        self._ending.cancel()
        if self._question is not None:
            self._question.abort()
            self._question = None
        if self._is_connected:
            self._is_connected = self.is_silent = False  # a state follows, and is told
            self.disconnected.emit()

    def _set(self, state: ServiceState, message: str = "") -> None:
        if (self.state, self.message) != (state, message):
            self.state, self.message = state, message
            self.state_changed.emit()
