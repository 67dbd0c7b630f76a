"""The disk is full, or read-only: pins stay in memory and say why, nothing half-written is left, and it passes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.models import LLAMA
from tests.support.service_process import ServiceProcess, service_process
from tests.support.small_disk import SmallDisk, small_disk

RUBRIC = "Grade the answer. " + "Give one point for each fact that is right. " * 8  # 150 KB of KV
FULL, READ_ONLY = "No space left on device", "Read-only file system"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Where KV files go: room for four pins."""
    with small_disk(tmp_path / "kv", 1024) as disk:
        yield disk


def files(disk: SmallDisk) -> list[str]:
    return sorted(path.suffix for path in disk.folder.glob("*/*"))


def assert_unharmed(service: ServiceProcess, pin: str) -> None:
    """The pin serves, and so does everything else."""
    answer = service.http.post(
        "/v1/chat/completions",
        json={"model": f"m@{pin}", "max_tokens": 2, "messages": [{"role": "user", "content": "4"}]},
    ).json()
    tokens = service.get(f"pins/{pin}")["tokens"]
    assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == tokens
    assert service.complete("Something else entirely.")["usage"]["completion_tokens"] == 1


def assert_only_in_memory(pin: dict[str, object], why: str) -> None:
    assert (pin["state"], pin["on_disk"]) == ("warm", False)
    assert pin["reason"] == f"It is in memory, but not on disk: {why}. Saving it is tried again now and then."


def assert_comes_back(service: ServiceProcess, pin: str) -> None:
    service.send("POST", f"pins/{pin}/refresh")
    found = service.wait(f"pins/{pin}", lambda pin: pin["state"] == "warm" and pin["on_disk"])
    assert found["reason"] is None


def test_a_full_disk(disk: SmallDisk, tmp_path: Path) -> None:
    with service_process(tmp_path, LLAMA, disk_budget_mib=64) as service:
        assert service.pin("before", text=RUBRIC)["on_disk"]
        disk.fill()
        assert_only_in_memory(service.pin("rubric", text=f"Be kind. {RUBRIC}"), FULL)
        assert files(disk) == [".safetensors"], "a part of a file was left"
        assert_unharmed(service, "rubric")
        assert_unharmed(service, "before")
        disk.empty()
        assert_comes_back(service, "rubric")
        assert files(disk) == [".safetensors"] * 2
    with service_process(tmp_path, LLAMA, disk_budget_mib=64) as service:
        service.wait("pins/rubric", lambda pin: pin["state"] == "warm")
        assert service.get("status")["activity"]["prompt_tokens_processed"] < 20, "they were prefilled again"
        assert_unharmed(service, "rubric")


def test_a_read_only_disk(disk: SmallDisk, tmp_path: Path) -> None:
    with service_process(tmp_path, LLAMA, disk_budget_mib=64) as service:
        assert service.pin("before", text=RUBRIC)["on_disk"]
        disk.set_read_only(True)
        assert_only_in_memory(service.pin("rubric", text=f"Be kind. {RUBRIC}"), READ_ONLY)
        assert_unharmed(service, "rubric")
    with service_process(tmp_path, LLAMA, disk_budget_mib=64) as service:  # what is there can be read all the same
        service.wait("pins/before", lambda pin: pin["state"] == "warm")
        service.wait("pins/rubric", lambda pin: pin["state"] == "warm")
        assert service.get("pins/before")["on_disk"]
        assert_only_in_memory(service.get("pins/rubric"), READ_ONLY)
        assert_unharmed(service, "before")
        disk.set_read_only(False)
        assert_comes_back(service, "rubric")
        assert files(disk) == [".safetensors"] * 2


def test_a_disk_on_which_no_folder_can_be_made(disk: SmallDisk, tmp_path: Path) -> None:
    disk.set_read_only(True)
    with service_process(tmp_path, LLAMA, disk_budget_mib=64) as service:
        assert_only_in_memory(service.pin("rubric", text=RUBRIC), READ_ONLY)
        assert [problem["kind"] for problem in service.get("status")["problems"]] == ["disk"]
        assert_unharmed(service, "rubric")
        disk.set_read_only(False)
        assert_comes_back(service, "rubric")
        assert service.get("status")["problems"] == [] and files(disk) == [".safetensors"]


def test_a_disk_that_holds_the_list_of_pins_too_and_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "home", 2048) as disk:
        with service_process(disk.folder, LLAMA, disk_budget_mib=64) as service:
            assert service.pin("before", text=RUBRIC)["on_disk"]
            disk.fill()
            assert_only_in_memory(service.pin("rubric", text=f"Be kind. {RUBRIC}"), FULL)
            assert [problem["kind"] for problem in service.get("status")["problems"]] == ["history"]
            assert_unharmed(service, "rubric")
            disk.empty()
            assert_comes_back(service, "rubric")
            service.wait("status", lambda status: not status["problems"])
        with service_process(disk.folder, LLAMA, disk_budget_mib=64) as service:
            service.wait("pins/rubric", lambda pin: pin["state"] == "warm" and pin["on_disk"])
