"""What the service says in English is told in the window's language: by its codes, kinds and names, all of which are
known here. That each sentence is translated, test_translations.py tells.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import pinfill_service
from pinfill_app import failure_words as words
from pinfill_app import finding_words, rule_words
from pinfill_app.client import refusal
from pinfill_app.command_errors import failure_of
from pinfill_app.failure import FailureKind
from pinfill_app.models.request_row import request_rows, why
from pinfill_app.plan import PlanError
from pinfill_app.service_process import Ended
from pinfill_service.agents.agent import AgentError
from pinfill_service.api.schemas.manage import Finding, PinState, Problem, PromptRule
from pinfill_service.cache.doctor.records import Kind
from pinfill_service.cache.doctor.wording import SUGGESTIONS
from pinfill_service.commands.error_codes import CODES
from pinfill_service.documents.document import LockedFileError
from pinfill_service.documents.inventory import SkippedEntry, Why
from pinfill_service.prompt.stable import RULES
from pinfill_service.resources import ResourceMissingError
from tests.support.pages import request, status

# Of routes that only other programs ask.
NEVER_MET = {"previous_response_not_found", "response_not_found", "item_not_found", "not_implemented"}

SAID = "There is a pin rubric already. Choose another name."


@pytest.fixture
def in_german(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that is not English. What is shown is our English sentences: translations are another test's."""
    for module in (words, finding_words, rule_words):
        monkeypatch.setattr(module, "spoken", lambda: "de")


def codes_of(tree: ast.AST) -> Iterator[str]:
    """Of `code="..."` in calls and `code = "..."` in classes and functions, conditional expressions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "code":
            value: ast.expr | None = node.value
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value = node.value if isinstance(target, ast.Name) and target.id == "code" else None
        else:
            continue
        branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        yield from (each.value for each in branches if isinstance(each, ast.Constant) and isinstance(each.value, str))


def test_every_code_of_the_service_has_words() -> None:
    package = Path(pinfill_service.__file__).parent
    api = {code for file in package.rglob("*.py") for code in codes_of(ast.parse(file.read_text(encoding="utf-8")))}
    assert {"pin_exists", "model_not_loaded", "pull_failed", "file_locked"} <= api
    assert {*words.code_words()} == (api | {*CODES.values()}) - NEVER_MET


def test_every_finding_and_rule_of_the_service_has_words() -> None:
    assert {*finding_words.explanations()} == {*get_args(Kind)}
    assert finding_words.suggestions() == SUGGESTIONS
    assert rule_words.titles() == {rule.name: rule.title for rule in RULES}
    assert rule_words.descriptions() == {rule.name: rule.description for rule in RULES}


def test_an_english_window_shows_the_services_own_words() -> None:
    assert words.failure_words("pin_exists", SAID) == SAID
    assert words.reason_words("stale", "a.md changed") == "a.md changed"
    assert finding_words.explanation(finding("clock")) == "said of it" and finding_words.suggestion(finding("clock"))


def test_another_window_shows_ours_and_the_services_as_detail(in_german: None) -> None:
    assert words.failure_words("pin_exists", SAID) == f"{words.code_words()['pin_exists']} Details: {SAID}"
    assert words.failure_words("pin_exists", "") == words.code_words()["pin_exists"]
    for unknown in (None, "", "invented"):
        assert words.failure_words(unknown, SAID) == SAID


def test_every_pin_state_and_kind_of_problem_is_told(in_german: None) -> None:
    for state in get_args(PinState):
        assert words.reason_words(state, SAID).endswith(f". Details: {SAID}")
        assert words.reason_words(state, "") == ""
    kinds = get_args(Problem.model_fields["kind"].annotation)
    assert len({words.problem_words(kind, SAID) for kind in kinds}) == len(kinds)
    assert all(words.problem_words(kind, SAID).endswith(f" Details: {SAID}") for kind in kinds)
    assert words.outdated_words("pinfill models pull m").endswith("Details: pinfill models pull m")


def test_where_a_model_runs_is_told(in_german: None) -> None:
    model = status().model
    assert model is not None
    npu = model.model_copy(update={"provider": "VitisAIExecutionProvider", "provider_note": "NPU: it is there"})
    assert words.provider_words(model).endswith(" Details: CPU: no NPU was found.")
    assert words.provider_words(npu) == "That is not yet verified on hardware. Details: NPU: it is there"
    assert words.provider_words(npu.model_copy(update={"provider_note": ""})) == ""


def test_an_error_of_shared_code_is_told_by_its_code(in_german: None) -> None:
    for error in (AgentError(SAID), ResourceMissingError(SAID), PlanError(SAID), LockedFileError(SAID)):
        assert words.error_words(error) == f"{words.code_words()[error.code]} Details: {SAID}"
    assert words.error_words(OSError("no more")) == "no more" and words.error_words(OSError()) == "OSError"


def finding(kind: str) -> Finding:
    return Finding(kind=kind, explanation="said of it", suggestion="said to do")


def test_a_finding_has_the_services_words_where_they_say_more(in_german: None) -> None:
    clock, evicted = finding("clock"), finding("evicted")
    assert finding_words.explanation(clock) == finding_words.explanations()["clock"]
    assert finding_words.explanation(evicted).endswith("Details: said of it")
    assert finding_words.explanation(evicted, short=True) == finding_words.explanations()["evicted"]
    assert why(request_rows((), [request("r", finding=evicted)])[0]) == finding_words.explanations()["evicted"]
    assert finding_words.suggestion(evicted) == SUGGESTIONS["evicted"]
    assert finding_words.explanation(finding("invented")) == "said of it"
    assert finding_words.suggestion(finding("invented")) == "said to do"


def test_a_rule_that_is_not_known_keeps_its_own_words(in_german: None) -> None:
    rule = PromptRule(name="new", title="Title", description="Description", default=True, on=True)
    assert (rule_words.title(rule), rule_words.description(rule)) == ("Title", "Description")
    known = rule.model_copy(update={"name": RULES[0].name})
    assert (rule_words.title(known), rule_words.description(known)) == (RULES[0].title, RULES[0].description)


def test_every_reason_to_leave_a_file_out_has_words(in_german: None) -> None:
    said = {why: words.skipped_words(SkippedEntry(Path("/a"), why, "is said so")) for why in get_args(Why)}
    assert len({*said.values()}) == len(said) and said["hidden"] == "is hidden"
    assert said["unreadable"] == "cannot be read (is said so)"


def test_an_english_window_tells_the_reason_itself() -> None:
    assert (
        words.skipped_words(SkippedEntry(Path("/a"), "too_large", "is larger than 9 bytes")) == "is larger than 9 bytes"
    )


def test_a_refusal_keeps_what_the_service_said(in_german: None) -> None:
    answer = json.dumps({"error": {"message": SAID, "code": "pin_exists"}}).encode()
    failure = refusal("127.0.0.1:7463", 409, answer)
    assert failure.message == words.failure_words("pin_exists", SAID) != SAID
    assert (failure.kind, failure.code, failure.said) == (FailureKind.REFUSED, "pin_exists", SAID)


def test_a_command_tells_its_code(in_german: None) -> None:
    failure = failure_of(f"reading\nerror-code: pin_exists\nerror: {SAID}\n", "nothing")
    assert (failure.code, failure.said) == ("pin_exists", SAID)
    assert failure.message == words.failure_words("pin_exists", SAID)
    assert failure_of("error: It broke.\n", "nothing").message == "It broke."
    assert failure_of(" \n", "nothing").message == "nothing"


def test_a_service_that_cannot_start_says_so_in_the_windows_language(in_german: None) -> None:
    lines = ("starting", "error-code: folder_busy", "error: The service 12 already works on it.")
    assert Ended(1, False, lines).refusal == words.failure_words("folder_busy", "The service 12 already works on it.")
    assert Ended(1, False, lines[:2]).refusal is None and Ended(2, False, lines).refusal is None
