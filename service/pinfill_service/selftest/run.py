"""Runs the self-test: looks at the machine, loads the model, asks it the same thing cold and warm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from pinfill_service.commands.client import MeasuringClient
from pinfill_service.commands.demo_run import load_essays, load_rubric
from pinfill_service.commands.error_codes import code_of
from pinfill_service.commands.failures import explain
from pinfill_service.commands.local_service import RunningService, local_service
from pinfill_service.commands.machine import machine_facts
from pinfill_service.selftest.machine import accel_nodes, machine, npu_facts, onnxruntime_facts, ryzenai_facts
from pinfill_service.selftest.report import ModelRun, NpuFacts, Report, RequestRun, Trouble, without_home
from pinfill_service.settings import Settings

PREFIX_TOKENS = 512
MAX_TOKENS = 16
_ROOM = 256  # tokens of a short context that are left for the essay and the answer


def self_test(settings: Settings, tell: Callable[[str], None], *, with_model: bool = True) -> Report:
    """What can be found out; nothing that fails ends it. `tell` is called with what happens next."""
    report = Report(machine={name: _plain(value) for name, value in machine_facts().items()})
    tell("Looking at the machine")
    with _noting(report, Trouble(code="machine_unknown", message="The machine cannot be looked at")):
        found = machine(settings)
        report.npus = [npu_facts(npu) for npu in found.npus]
        report.accel_nodes = accel_nodes()
        report.ryzenai = ryzenai_facts(found)
        report.onnxruntime = onnxruntime_facts(found)
        report.problems += _obstacles(report.npus)
    if with_model:
        tell(f"Loading {settings.model}")
        none = Trouble(code="no_answer", message="No answer came")
        with _noting(report, none), local_service(model=settings.model, slots=2) as service:
            _try_model(report, service, tell)
    return report


def _try_model(report: Report, service: RunningService, tell: Callable[[str], None]) -> None:
    model = service.model
    report.model = ModelRun(
        name=model.name,
        provider=model.provider,
        note=without_home(model.provider_note),
        context_length=model.context_length,
    )
    tell("Asking it the same thing from nothing and from the cache")
    with MeasuringClient(service.url, service.key) as client:
        report.request = ask_twice(client, min(PREFIX_TOKENS, model.context_length - _ROOM))
    if not report.request.equal:
        differs = "The answer from the cache differs from that of a cold run. Please report this."
        report.problems.append(Trouble(code="answer_differs", message=differs))
    elif not report.request.cached_tokens:
        uncached = "Nothing of the second request came from the cache. Please report this."
        report.problems.append(Trouble(code="nothing_cached", message=uncached))


def ask_twice(client: MeasuringClient, prefix_tokens: int) -> RequestRun:
    """A request that reuses nothing, and the same behind a prefix that another request left. Raises ServiceError."""
    rubric = load_rubric(client, max(prefix_tokens, 16))
    first, second = (essay.text.split(".")[0] for essay in load_essays()[:2])
    cold = client.chat(rubric, first, max_tokens=MAX_TOKENS, cache_prompt=False)
    client.chat(rubric, second, max_tokens=1, cache_prompt=True)
    warm = client.chat(rubric, first, max_tokens=MAX_TOKENS, cache_prompt=True)
    return RequestRun(
        prompt_tokens=warm.prompt_tokens or 0,
        cached_tokens=warm.cached_tokens or 0,
        cold_seconds=cold.ttft_seconds,
        warm_seconds=warm.ttft_seconds,
        equal=cold.text == warm.text,
    )


@contextmanager
def _noting(report: Report, what: Trouble) -> Iterator[None]:
    """A failure becomes one of the report's problems: the rest of it is still worth having. `what` has its beginning,
    and its code where the error has none.
    """
    try:
        yield
    except Exception as error:
        sentence = explain(error) or f"{type(error).__name__}: {error}"
        code, message = code_of(error) or what.code, without_home(f"{what.message}: {sentence}")
        report.problems.append(Trouble(code=code, message=message))


def _obstacles(npus: Iterable[NpuFacts]) -> Iterator[Trouble]:
    for npu in npus:
        if npu.obstacle:
            code = "npu_without_driver" if npu.driver is None else "npu_not_accessible"
            yield Trouble(code=code, message=npu.obstacle)


def _plain(value: object) -> str | int | None:
    return value if value is None or isinstance(value, str | int) else str(value)
