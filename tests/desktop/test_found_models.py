"""Looking for models of other programs: a process that finds, fails, lies, never ends or never stops talking."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from pytestqt.qtbot import QtBot

from pinfill_app import found_models
from pinfill_app.found_models import FoundModels
from pinfill_app.models.found_model import UNSHOWABLE, models_text, not_here_yet, place_text, read_found
from pinfill_app.widgets.plain_tip import plain_tip
from tests.support.desktop import LIMIT_MILLISECONDS
from tests.support.other_programs import Home
from tests.support.pages import english, found
from tests.support.sample_service import models
from tests.support.tiny_gguf import TinyLlama

TINY, BROKEN = found("ollama:tiny:latest"), found("lmstudio:a/b.gguf", problem="it is a recurrent model (mamba).")
FOREVER = "import time\nwhile True: time.sleep(9)"


def printed(*there_is: Any) -> str:
    """A program that prints these as the command does."""
    rows = [each if isinstance(each, dict) else each.model_dump() for each in there_is]
    return f"print({json.dumps(rows)!r})"


def looked(qtbot: QtBot, script: str, before: FoundModels | None = None, **limits: int) -> FoundModels:
    """After a look with a Python program instead of the command."""
    looking = before or FoundModels(**limits)
    looking._arguments = ["-c", script]
    looking.look()
    assert looking.is_looking and looking.has_looked and not looking.failure
    ended(qtbot, looking)
    return looking


def ended(qtbot: QtBot, looking: FoundModels) -> None:
    qtbot.waitUntil(lambda: not looking.is_looking, timeout=LIMIT_MILLISECONDS)


def test_those_that_can_be_imported_come_first(qtbot: QtBot) -> None:
    looking = looked(qtbot, printed(BROKEN, TINY))
    assert looking.models == (TINY, BROKEN) and not looking.failure
    assert TINY.can_be_imported and not BROKEN.can_be_imported and BROKEN.reason == BROKEN.problem


@pytest.mark.parametrize(
    "answer",
    [
        "nonsense",
        "",
        "{}",
        "5",
        "[5]",
        '[{"id": "ollama:x"}]',
        "[" * 90_000,
        "\\xff",
        json.dumps([TINY.model_dump() | {"bytes": -1}]),
        json.dumps([TINY.model_dump() | {"bytes": 10**400}]),
        json.dumps([TINY.model_dump() | {"id": "x" * 9_000}]),
        json.dumps([TINY.model_dump() | {"notes": "x"}]),
    ],
)
def test_an_answer_that_is_none_is_told_and_takes_nothing_away(qtbot: QtBot, answer: str) -> None:
    looking = looked(qtbot, printed(TINY))
    looked(qtbot, f"import sys; sys.stdout.buffer.write({answer!r}.encode('latin-1'))", looking)
    assert looking.failure.endswith("does not know.") and looking.models == (TINY,)
    looked(qtbot, printed(BROKEN), looking)
    assert not looking.failure and looking.models == (BROKEN,)


def test_a_command_that_fails_says_why(qtbot: QtBot) -> None:
    looking = looked(qtbot, "import sys; sys.exit('a line\\nerror: The disk cannot be read.')")
    assert looking.failure == "Models of other programs could not be looked for. The disk cannot be read."
    assert looked(qtbot, "import os; os._exit(3)").failure == "Models of other programs could not be looked for."


def test_a_look_that_never_ends_is_ended(qtbot: QtBot) -> None:
    looking = looked(qtbot, FOREVER, limit=1)
    assert "took too long" in looking.failure


def test_an_answer_that_never_ends_is_not_read(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_models, "MOST_BYTES", 100_000)
    looking = looked(qtbot, "while True: print(' ' * 5_000, flush=True)")
    assert "more models" in looking.failure and "pinfill models found" in looking.failure
    monkeypatch.setattr(found_models, "MOST_MODELS", 1)
    assert "more models" in looked(qtbot, printed(TINY, BROKEN)).failure


def test_a_look_that_cannot_begin_says_so(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
    looking = FoundModels()
    looking.look()
    ended(qtbot, looking)
    assert looking.failure.startswith("Models of other programs could not be looked for. ")


def test_there_is_one_look_at_a_time_and_the_applications_end_ends_it(qtbot: QtBot) -> None:
    looking = FoundModels(arguments=["-c", FOREVER])
    looking.look_once()
    process = looking._process
    assert process is not None
    looking.look()
    assert looking._process is process
    qtbot.waitUntil(lambda: process.processId() > 0, timeout=LIMIT_MILLISECONDS)
    pid = process.processId()
    looking.end_now()
    assert not looking.is_looking and not psutil.pid_exists(pid)
    looking.look_once()
    assert not looking.is_looking


# -- what files of other programs may be called ------------------------------------------------------------------------


def test_names_cannot_move_the_text_around_them() -> None:
    hostile = TINY.model_dump() | {
        "path": "/a\n\u202e/b",
        "architecture": "x" * 5_000,
        "problem": "no\x1b[31m " + "w" * 200,
    }
    (model,) = read_found(json.dumps([hostile]).encode())
    assert model.path == f"/a{UNSHOWABLE}{UNSHOWABLE}/b"
    assert model.architecture is not None and len(model.architecture) < 700
    words = model.reason.replace("\N{ZERO WIDTH SPACE}", " ").split()
    assert words[0] == f"no{UNSHOWABLE}[31m" and max(map(len, words)) <= 60


def test_a_name_that_is_no_text_hides_nothing_and_cannot_be_imported() -> None:
    rows = [TINY.model_dump() | {"id": "lmstudio:a/\udcff.gguf", "path": "/a/\udcff.gguf"}, TINY.model_dump()]
    good, bad = read_found(json.dumps(rows).encode())
    assert good == TINY and "Rename the file" in bad.reason and bad.id.encode()


def test_tool_tips_show_what_looks_like_a_page_as_it_is() -> None:
    assert plain_tip("/a & b") == "/a & b"
    assert plain_tip("<img src='x'>") == "<p>&lt;img src=&#x27;x&#x27;&gt;</p>"


# -- words -------------------------------------------------------------------------------------------------------------


def test_models_are_counted_with_where_they_are() -> None:
    with english():
        hub = found("huggingface:org/tiny")
        assert models_text([TINY]) == "1 model in Ollama" and place_text(hub) == "in Hugging Face's cache"
        assert models_text([hub, TINY, BROKEN, TINY]) == "4 models in Hugging Face's cache, Ollama, and LM Studio"


def test_what_was_imported_by_its_id_or_its_path_is_not_new() -> None:
    entry = models()[0]
    for source in (TINY.id, TINY.path):
        assert not_here_yet([TINY, BROKEN], [entry, entry.model_copy(update={"source": source})]) == (BROKEN,)
    assert not_here_yet([TINY], [entry]) == (TINY,)


# -- the real command --------------------------------------------------------------------------------------------------


def test_the_command_finds_what_ollama_has(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ollama = Home(tmp_path / "user")
    ollama.content = TinyLlama().write(tmp_path / "tiny.gguf").read_bytes()
    ollama.ollama("registry.ollama.ai/library/Tiny/1b", model="file", template="t")
    ollama.ollama("registry.ollama.ai/library/half/latest", model="sha256:" + "0" * 64)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(ollama.folder))
    for name in ("OLLAMA_MODELS", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(os.path.abspath, sys.path)))
    looking = FoundModels()
    looking.look()
    ended(qtbot, looking)
    assert looking.failure == ""
    by_id = {model.id: model for model in looking.models}
    tiny, half = by_id["ollama:Tiny:1b"], by_id["ollama:half:latest"]
    assert (tiny.program, tiny.name, tiny.architecture, tiny.quantisation) == ("Ollama", "tiny-1b", "llama", "F32")
    assert tiny.bytes == len(ollama.content) and tiny.can_be_imported and "chat template" in tiny.notes[0]
    assert "has not finished" in half.reason and half.bytes is None
