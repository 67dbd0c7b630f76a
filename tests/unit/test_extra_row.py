"""The extra row of zeros: as seldom as the processor's kernels allow, which is tried from the cheapest on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pinfill_service.engine import session as engine_session
from pinfill_service.engine.session import DecoderSession, ExtraRow
from tests.support.tiny_gguf import TinyLlama
from tests.support.tiny_session import converted

PROMPT = np.arange(1, 6)


def rows_fed(session: DecoderSession, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The number of extra rows of the latest run."""
    fed, feeds = [], session._feeds

    def recorded(*arguments: object) -> object:
        made = feeds(*arguments)  # type: ignore[arg-type]
        fed.append(int(made["extra_rows"][0]))
        return made

    monkeypatch.setattr(session, "_feeds", recorded)
    return lambda: fed[-1]


@pytest.mark.parametrize("chosen", ExtraRow)
def test_the_first_that_is_exact_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: ExtraRow) -> None:
    session, kv = converted(TinyLlama(), tmp_path)
    tried = []

    def is_exact(session: DecoderSession, *_: object) -> bool:
        tried.append(session._extra_row)
        return session._extra_row is chosen

    monkeypatch.setattr(engine_session, "rows_are_independent", is_exact)
    assert session.save_rows() is chosen
    assert tried == [ExtraRow.NEVER, ExtraRow.ALONE][: max(1, list(ExtraRow).index(chosen) + 1)]

    extra = rows_fed(session, monkeypatch)
    session.prefill(0, PROMPT, 1)
    one_logit = extra()
    kv.fork(0, 1, 0, len(PROMPT))
    session.decode(0, 1, [7])
    alone = extra()
    kv.truncate(0, len(PROMPT))
    session.decode(0, 2, [7, 8])
    together = extra()
    kv.truncate(0, 0)
    session.prefill(0, PROMPT, 3)
    found = one_logit, alone, together, extra()
    assert found == {ExtraRow.NEVER: (0, 0, 0, 0), ExtraRow.ALONE: (1, 1, 0, 0), ExtraRow.ALWAYS: (1, 1, 1, 1)}[chosen]


def test_what_is_chosen_here_changes_no_logit(tmp_path: Path) -> None:
    """To the bit, for a prompt in one piece and in two, and for a reply alone and beside another."""
    session, kv = converted(TinyLlama(), tmp_path)
    session.save_rows()
    results = []
    for cut, last in ((5, 1), (2, 1), (5, 2), (3, 2)):
        kv.truncate(0, 0)
        kv.truncate(1, 0)
        for piece in np.split(PROMPT, [cut]):
            if len(piece):
                logits = session.prefill(0, piece, 1)
        kv.fork(0, 1, 0, 4)
        results.append((logits[-1], session.decode(0, last, [7] * last)[0]))
    for prompt, reply in results[1:]:
        assert np.array_equal(prompt, results[0][0]) and np.array_equal(reply, results[0][1])
