"""A secret is in one place only, readable by its user alone, and in no message."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import keyring.backends.null
import pytest

from pinfill_service.secret_store import (
    FoundSecret,
    KeyringLockedError,
    KeyringUnusableError,
    SecretError,
    SecretPlace,
    SecretStore,
    has_keyring,
)
from tests.support.keyrings import LockedKeyring, MemoryKeyring, PlaintextKeyring, TalkativeKeyring, used

SECRET = SecretStore("word", "word")
VALUE = "open-sesame"


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINFILL_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def store() -> Iterator[MemoryKeyring]:
    backend = MemoryKeyring()
    with used(backend):
        yield backend


@pytest.fixture
def no_keyring() -> Iterator[None]:
    with used(keyring.backends.fail.Keyring()):  # type: ignore[no-untyped-call]
        yield


def test_it_is_replaced_and_forgotten_in_the_keyring(store: MemoryKeyring, state_folder: Path) -> None:
    assert SECRET.keep("before") is SecretPlace.KEYRING and SECRET.keep(VALUE) is SecretPlace.KEYRING
    assert SECRET.find() == FoundSecret(VALUE, SecretPlace.KEYRING) and not state_folder.exists()
    assert SECRET.forget() and store.kept == {}
    assert not SECRET.forget() and SECRET.find() is None


@pytest.mark.usefixtures("no_keyring")
def test_it_is_replaced_and_forgotten_in_the_file(state_folder: Path) -> None:
    assert SECRET.keep("before") is SecretPlace.FILE and SECRET.keep(VALUE) is SecretPlace.FILE
    assert SECRET.find() == FoundSecret(VALUE, SecretPlace.FILE)
    assert [path.name for path in state_folder.iterdir()] == ["word"]
    assert os.name == "nt" or stat.S_IMODE((state_folder / "word").stat().st_mode) == 0o600
    assert SECRET.forget() and list(state_folder.iterdir()) == []
    assert not SECRET.forget()


@pytest.mark.usefixtures("no_keyring")
def test_a_keyring_that_can_be_reached_again_takes_it_out_of_the_file(state_folder: Path) -> None:
    SECRET.keep("before")
    store = MemoryKeyring({("pinfill", "word"): "much older"})
    with used(store):
        assert SECRET.find() == FoundSecret("before", SecretPlace.FILE)
        SECRET.keep(VALUE)
        assert list(state_folder.iterdir()) == [] and store.kept == {("pinfill", "word"): VALUE}
        (state_folder / "word").write_text("of another process")
        assert SECRET.forget() and SECRET.find() is None


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
@pytest.mark.usefixtures("no_keyring")
def test_a_link_is_replaced_and_never_followed(state_folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("of the user's own")
    state_folder.mkdir()
    (state_folder / "word").symlink_to(elsewhere)
    SECRET.keep(VALUE)
    assert not (state_folder / "word").is_symlink()
    (state_folder / "word").unlink()
    (state_folder / "word").symlink_to(elsewhere)
    assert SECRET.forget() and elsewhere.read_text() == "of the user's own"


def test_a_locked_keyring_is_neither_passed_over_nor_taken_for_empty(state_folder: Path) -> None:
    state_folder.mkdir()
    with used(LockedKeyring()):
        for attempt in (lambda: SECRET.keep(VALUE), SECRET.find, SECRET.forget, SECRET.in_keyring):
            with pytest.raises(KeyringLockedError, match="locked"):
                attempt()
    assert list(state_folder.iterdir()) == []


def test_forgetting_deletes_the_file_even_when_the_keyring_does_not_answer(state_folder: Path) -> None:
    with used(TalkativeKeyring()):
        assert SECRET.keep(VALUE) is SecretPlace.FILE
        with pytest.raises(KeyringUnusableError, match="no D-Bus"):
            SECRET.forget()
    assert list(state_folder.iterdir()) == []


def test_a_backend_that_writes_plain_files_is_no_keyring() -> None:
    store = PlaintextKeyring()
    with used(store):
        assert SECRET.keep(VALUE) is SecretPlace.FILE and store.kept == {} and not has_keyring()
        assert SECRET.forget()


def test_whether_there_is_a_keyring_is_known_without_asking_it() -> None:
    with used(LockedKeyring()):
        assert has_keyring()
    for none in (keyring.backends.fail.Keyring, keyring.backends.null.Keyring):
        with used(none()):  # type: ignore[no-untyped-call]
            assert not has_keyring()


def test_what_backends_say_is_told_without_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    with used(TalkativeKeyring()), pytest.raises(KeyringUnusableError) as refused:
        SECRET._to_keyring(VALUE)
    assert "cannot store '...'" in str(refused.value) and refused.value.__suppress_context__

    class ReadsNothing(TalkativeKeyring):
        def get_password(self, service: str, username: str) -> str | None:
            return None

    with used(ReadsNothing()):
        assert SECRET.find_or_make(lambda: VALUE).place is SecretPlace.FILE
    assert "cannot store '...'" in caplog.text and VALUE not in caplog.text


@pytest.mark.usefixtures("no_keyring")
def test_what_could_not_be_finished_is_deleted(state_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    SECRET.keep("before")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SecretError, match="No space left"):
        SECRET.keep(VALUE)
    assert SECRET.find() == FoundSecret("before", SecretPlace.FILE)
    assert [path.name for path in state_folder.iterdir()] == ["word"]


@pytest.mark.usefixtures("no_keyring")
def test_a_folder_in_its_place_is_told(state_folder: Path) -> None:
    (state_folder / "word").mkdir(parents=True)
    for attempt in (lambda: SECRET.keep(VALUE), SECRET.find, SECRET.forget):
        with pytest.raises(SecretError, match="word"):
            attempt()
