"""What is on disk of pins whose model is not loaded: what the files of that model hold, and nothing in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pinfill_service.cache.kv_file import Identity, KvContent, write_kv_file
from pinfill_service.pins.content import pinned_prefix, system_text
from pinfill_service.pins.kept_files import KeptFiles, digest_of
from tests.support.fake_engine import FakeEngine, Reply
from tests.support.managed import FakeLoader, managed
from tests.support.models import llama_text

MODEL = "f" * 64
PER_TOKEN = 3 * 2 * 4 * 4  # tensors, heads, head size, bytes of a number
RUBRIC = "Grade the answer from 1 to 5 and say why."


def write(kv_home: Path, name: str, ids: list[int], start: int = 0, namespace: str = "") -> Path:
    folder = kv_home / MODEL[:16]
    folder.mkdir(parents=True, exist_ok=True)
    kv = np.zeros((3, 2, len(ids) - start, 4), np.float32)
    path = folder / f"{name}.safetensors"
    content = KvContent(namespace, np.asarray(ids, np.int32), start, [[kv]], {})
    write_kv_file(path, Identity("model", "a runtime of long ago", "layout"), content)
    return path


def size(kv_home: Path, ids: list[int]) -> int:
    return KeptFiles(kv_home).bytes_of(MODEL, digest_of(ids), len(ids))


def other_engine() -> FakeEngine:
    return FakeEngine(Reply([5]), name="other-model", fingerprint="e" * 64)


def test_a_pin_is_as_large_as_what_its_files_hold_of_it(tmp_path: Path) -> None:
    ids = [*range(100, 140)]
    write(tmp_path, "beginning", [*ids[:25], 9, 9, 9])
    end = write(tmp_path, "end", ids, start=25)
    branch = [*ids[:25], 1, 2]
    write(tmp_path, "branch", branch, start=25)
    assert size(tmp_path, branch) == 27 * PER_TOKEN, "it begins in the file of another one"
    write(tmp_path, "another", [7, *ids])
    write(tmp_path, "of-a-tenant", ids[:10], namespace="salt")
    assert size(tmp_path, ids) == 40 * PER_TOKEN
    assert size(tmp_path, ids[:30]) == 30 * PER_TOKEN, "it ends within a longer one"
    (tmp_path / MODEL[:16] / "beginning.safetensors").unlink()
    assert size(tmp_path, ids) == 15 * PER_TOKEN
    end.write_bytes(b"damaged")
    assert size(tmp_path, ids) == 0


def test_nothing_is_on_disk_where_there_are_no_files(tmp_path: Path) -> None:
    assert size(tmp_path, [1, 2, 3]) == 0
    write(tmp_path, "pin", [1, 2, 3])
    assert KeptFiles(tmp_path).bytes_of(MODEL, None, 3) == 0, "a pin of a version that kept no digests"
    assert KeptFiles(None).bytes_of(MODEL, digest_of([1, 2, 3]), 3) == 0


async def test_a_pin_of_another_model_has_the_size_of_its_own_files(tmp_path: Path) -> None:
    ids = pinned_prefix(system_text(RUBRIC), llama_text()).token_ids
    async with managed(tmp_path, loader=FakeLoader(other_engine())) as service:
        assert (await service.pin("rubric", text=RUBRIC))["memory_bytes"] == len(ids) * 1024
        write(tmp_path / "kv", "pin", ids)
        await service.ask("POST", "/models/other-model/load")
        await service.events.wait("pin.state", name="rubric", state="stale")
        pin = await service.get("/pins/rubric")
        assert (pin["memory_bytes"], pin["disk_bytes"], pin["on_disk"]) == (0, len(ids) * PER_TOKEN, True)
    async with managed(tmp_path, other_engine()) as service:
        assert (await service.get("/pins/rubric"))["disk_bytes"] == len(ids) * PER_TOKEN
        (tmp_path / "kv" / MODEL[:16] / "pin.safetensors").unlink()
        pin = await service.get("/pins/rubric")
        assert (pin["disk_bytes"], pin["on_disk"]) == (0, False)
