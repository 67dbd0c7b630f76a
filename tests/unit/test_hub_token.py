"""The token of Hugging Face: which one counts, what is done with it at the command line, and where it never goes."""

from __future__ import annotations

import getpass
import io
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinfill_service.models.download import DownloadError, fetch
from pinfill_service.models.hub_access import HubAccess, shown
from pinfill_service.models.hub_token import FoundToken, TokenError, TokenPlace, find_token, forget_token, save_token
from tests.support.command_line import CommandLine, assert_told
from tests.support.hub import CONTENT, PATH, Hub, ignore, model, serving, used_hub
from tests.support.keyrings import LockedKeyring, MemoryKeyring, TalkativeKeyring, untouched, used

TOKEN = "hf_ThisIsTheToken0123456789"
OTHER = "hf_ThisIsAnotherOne01234567"
BEARER = f"Bearer {TOKEN}"


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub, and a user without a token and without a keyring."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with used_hub(monkeypatch, tmp_path) as found:
        yield found


@pytest.fixture
def pinfill(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys, monkeypatch)


def log_in(tmp_path: Path, text: str) -> Path:
    """What `hf auth login` writes."""
    path = tmp_path / "huggingface" / "token"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    return path


# Which one counts


def test_the_variable_wins_then_the_saved_one_then_the_log_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_token() is None
    login = log_in(tmp_path, f"{OTHER}\n")
    assert find_token() == FoundToken(OTHER, TokenPlace.LOGIN, login)
    with used(MemoryKeyring()):
        assert save_token(f" {TOKEN}\n") == find_token() == FoundToken(TOKEN, TokenPlace.KEYRING)
        monkeypatch.setenv("HF_TOKEN", f"{OTHER}\n")
        assert find_token() == FoundToken(OTHER, TokenPlace.VARIABLE)
        assert forget_token() and not forget_token()
    monkeypatch.setenv("HF_TOKEN", "")
    assert find_token() == FoundToken(OTHER, TokenPlace.LOGIN, login)


def test_without_a_keyring_the_saved_one_is_in_a_file(tmp_path: Path) -> None:
    saved = save_token(TOKEN)
    assert saved == find_token() == FoundToken(TOKEN, TokenPlace.FILE, tmp_path / "home" / "hugging-face-token")
    assert TOKEN not in repr(saved)


def test_without_implicit_tokens_only_the_saved_one_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(tmp_path, OTHER)
    monkeypatch.setenv("HF_TOKEN", OTHER)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "yes")
    assert find_token() is None
    save_token(TOKEN)
    found = find_token()
    assert found is not None and found.value == TOKEN
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "0")
    found = find_token()
    assert found is not None and found.value == OTHER


def test_the_keyring_is_not_asked_where_that_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    with untouched():
        assert find_token(ask_keyring=False) is None
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        assert find_token() == FoundToken(TOKEN, TokenPlace.VARIABLE)


@pytest.mark.parametrize(
    "text", ["", "short", f"{TOKEN} {TOKEN}", f"{TOKEN}\nx", f"{TOKEN}é", "x" * 1_001, f"{TOKEN}\0"]
)
def test_what_is_no_token_is_refused_and_not_repeated(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TokenError, match="no token") as refused:
        save_token(text)
    assert not text or text not in str(refused.value)
    if text:
        log_in(tmp_path, text)
        with pytest.raises(TokenError, match="holds no token"):
            find_token()
    if text and "\0" not in text:
        monkeypatch.setenv("HF_TOKEN", text)
        with pytest.raises(TokenError, match="HF_TOKEN is set, but not to a token"):
            find_token()


def test_trouble_says_what_to_do_next(tmp_path: Path) -> None:
    with used(LockedKeyring()):
        for attempt in (find_token, forget_token, lambda: save_token(TOKEN)):
            with pytest.raises(TokenError, match=r"locked\. Unlock it, then"):
                attempt()
    with used(TalkativeKeyring()), pytest.raises(TokenError, match=r"no D-Bus.*Mend that, then try again"):
        find_token()
    path = tmp_path / "home" / "hugging-face-token"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n")
    with pytest.raises(TokenError, match="Delete it, then save the token again"):
        find_token()


# Where it goes


def pull(tmp_path: Path) -> None:
    fetch(model(), tmp_path / "tiny.gguf", ignore)


def refusal(tmp_path: Path) -> str:
    with pytest.raises(DownloadError) as refused:
        pull(tmp_path)
    return str(refused.value)


def test_the_hub_gets_it_and_where_it_redirects_to_does_not(hub: Hub, tmp_path: Path) -> None:
    save_token(TOKEN)
    with serving() as cdn:
        hub.cdn, cdn.cuts = cdn.url, [1000]
        pull(tmp_path)
    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT
    assert hub.authorizations == [(PATH, BEARER), (PATH, BEARER)]
    assert cdn.authorizations == [("/cdn", None), ("/cdn", None)]


def test_it_does_not_come_back_along_a_second_redirect(hub: Hub, tmp_path: Path) -> None:
    save_token(TOKEN)
    with serving() as other:
        other.cdn = hub.url
        hub.cdn = f"{other.url}{PATH}?"  # the other one redirects again: back to the hub
        pull(tmp_path)
    assert hub.authorizations == [(PATH, BEARER), ("/cdn", None)] and other.authorizations == [(PATH, None)]


def test_it_is_in_no_log(hub: Hub, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    save_token(TOKEN)
    hub.statuses = [401]
    pull(tmp_path)
    assert "127.0.0.1 does not accept the token in " in caplog.text and TOKEN not in caplog.text


def test_over_plain_http_it_does_not_leave_the_machine(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub is the proxy here, so that it hears what would have been sent to the mirror."""
    save_token(TOKEN)
    monkeypatch.setenv("HTTP_PROXY", hub.url)
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.invalid")
    hub.cdn = "http://mirror.invalid"
    pull(tmp_path)
    assert hub.authorizations == [(PATH, None), ("/cdn", None)]
    (tmp_path / "tiny.gguf").unlink()
    hub.statuses = [401]
    assert "No token was sent: the connection to mirror.invalid is not encrypted." in refusal(tmp_path)


def test_a_hub_on_this_machine_is_not_asked_through_a_proxy(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_token(TOKEN)
    with serving() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        pull(tmp_path)
    assert proxy.authorizations == [] and hub.authorizations[0] == (PATH, BEARER)


@pytest.mark.parametrize(
    "endpoint", ["https://huggingface.co", "http://localhost:80", "http://[::1]:8080", "http://127.0.0.2"]
)
def test_encrypted_and_on_this_machine_it_is_sent(endpoint: str) -> None:
    save_token(TOKEN)
    assert HubAccess(endpoint, "who/tiny").headers() == {"Authorization": BEARER}


@pytest.mark.parametrize(
    "endpoint", ["http://huggingface.co", "http://127.0.0.1.example.org", "http://u:p@127.0.0.1", "ftp://x"]
)
def test_elsewhere_it_is_not_even_looked_up(endpoint: str) -> None:
    with untouched():
        assert HubAccess(endpoint, "who/tiny").headers() == {}


def test_a_name_and_a_password_in_the_endpoint_are_used_and_not_shown(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_token(TOKEN)
    monkeypatch.setenv("HF_ENDPOINT", hub.url.replace("http://", "http://user:pass@"))
    hub.statuses = [403]
    words = refusal(tmp_path)
    assert "HF_ENDPOINT has a name and a password of its own" in words and "pass@" not in words
    assert hub.authorizations == [(PATH, "Basic dXNlcjpwYXNz")]
    assert shown("https://user:pass@host/a") == "https://host/a"


def test_nobody_is_asked_before_there_is_a_download(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    with untouched():
        pull(tmp_path)


# When the hub refuses


@pytest.mark.parametrize("status", [401, 403, 404])
def test_without_a_token_a_refusal_says_how_to_get_one(hub: Hub, tmp_path: Path, status: int) -> None:
    hub.statuses = [status]
    words = refusal(tmp_path)
    assert f"the server answered {status} for {hub.url}{PATH}. No token was sent: there is none." in words
    assert f"accept its licence at {hub.url}/who/tiny, then save a token" in words
    assert "pinfill models token --set" in words and "Settings" in words and len(hub.asked) == 1


def test_a_locked_keyring_means_without_a_token_and_is_told_only_then(hub: Hub, tmp_path: Path) -> None:
    with used(LockedKeyring()):
        hub.statuses = [403]
        assert "No token was sent: The system keyring is locked. Unlock it, then try again." in refusal(tmp_path)
        pull(tmp_path)
    assert {header for _, header in hub.authorizations} == {None}


def test_a_token_that_may_not_read_it_is_told(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_token(TOKEN).path
    hub.statuses = [403]
    assert f"The token in {path} does not open it." in refusal(tmp_path)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.statuses = [404]
    words = refusal(tmp_path)
    assert "The token from HF_TOKEN does not open it." in words and "set HF_TOKEN to a token that may read it" in words
    assert len(hub.asked) == 2 and TOKEN not in words


def test_what_is_public_comes_without_a_token_that_the_hub_does_not_know(hub: Hub, tmp_path: Path) -> None:
    save_token(TOKEN)
    hub.statuses = [401]
    pull(tmp_path)
    assert hub.authorizations == [(PATH, BEARER), (PATH, None), ("/cdn", None)]
    (tmp_path / "tiny.gguf").unlink()
    hub.statuses = [401, 401]
    assert "is not accepted" in refusal(tmp_path)


@pytest.mark.parametrize("code", ["EntryNotFound", "RevisionNotFound"])
def test_what_the_repository_does_not_have_is_no_matter_of_tokens(hub: Hub, tmp_path: Path, code: str) -> None:
    hub.statuses, hub.error_code = [404], code
    words = refusal(tmp_path)
    assert "the server answered 404" in words and "token" not in words


def test_what_another_server_refuses_is_no_matter_of_tokens(hub: Hub, tmp_path: Path) -> None:
    save_token(TOKEN)
    with serving() as other:
        hub.cdn, other.statuses = f"{other.url}{PATH}?", [401]
        words = refusal(tmp_path)
    assert "the server answered 401" in words and "token" not in words and len(hub.asked) == 1


# At the command line


def given(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def typed(monkeypatch: pytest.MonkeyPatch, ask: object) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(getpass, "getpass", ask)


def test_it_is_saved_shown_by_place_and_forgotten(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "home" / "hugging-face-token"
    assert "There is no token" in pinfill("models", "token").out
    given(monkeypatch, f"{TOKEN}\n".encode())
    done = pinfill("models", "token", "--set")
    assert done.code == 0 and "this machine has no keyring" in done.err and str(path) in done.err
    assert path.read_text() == TOKEN
    assert json.loads(pinfill("models", "token", "--json").out) == {"place": "file", "path": str(path)}
    forgotten = pinfill("models", "token", "--forget")
    assert forgotten.code == 0 and "is forgotten" in forgotten.err and not path.exists()
    assert json.loads(pinfill("models", "token", "--json").out) == {"place": None, "path": None}
    again = {"forgotten": False, "place": None, "path": None}
    assert json.loads(pinfill("models", "token", "--forget", "--json").out) == again


def test_every_place_is_named_and_no_token(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    login = log_in(tmp_path, OTHER)
    assert str(login) in pinfill("models", "token").out
    assert "Downloads go on with another one" in pinfill("models", "token", "--forget").err
    with used(MemoryKeyring()):
        given(monkeypatch, TOKEN.encode())
        assert json.loads(pinfill("models", "token", "--set", "--json").out) == {"place": "keyring", "path": None}
        assert "in the system keyring" in pinfill("models", "token").out
        monkeypatch.setenv("HF_TOKEN", OTHER)
        given(monkeypatch, TOKEN.encode())
        assert "HF_TOKEN is set, and wins" in pinfill("models", "token", "--set").err
        status = pinfill("models", "token")
        assert "HF_TOKEN" in status.out and "hf_" not in status.out + status.err


def test_a_token_is_typed_without_being_shown(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, lambda prompt: TOKEN)
    assert pinfill("models", "token", "--set").code == 0
    found = find_token()
    assert found is not None and found.value == TOKEN


def test_a_terminal_that_would_show_it_is_refused(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def shows(prompt: str) -> str:
        warnings.warn("Can not control echo on the terminal.", getpass.GetPassWarning, stacklevel=2)
        return TOKEN

    typed(monkeypatch, shows)
    assert_told(pinfill("models", "token", "--set"), "would show the token", "standard input")
    assert find_token() is None


@pytest.mark.parametrize("data", [b"", b"\n", b"one two three\n", b"\xff\xfe" * 9, TOKEN.encode() * 100])
def test_what_is_given_and_no_token_is_refused(
    pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    given(monkeypatch, data)
    assert_told(pinfill("models", "token", "--set"), "no token")
    assert find_token() is None


def test_a_token_cannot_be_an_argument(pinfill: CommandLine) -> None:
    assert pinfill("models", "token", "--set", TOKEN).code == 2
    assert_told(pinfill("models", "token", "--set", "--forget"), "exclude each other")


def test_a_locked_keyring_is_told(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    with used(LockedKeyring()):
        assert_told(pinfill("models", "token"), "locked", "Unlock it")
        given(monkeypatch, TOKEN.encode())
        assert_told(pinfill("models", "token", "--set"), "Unlock it, then save the token again")
        assert_told(pinfill("models", "token", "--forget"), "Unlock it, then forget")


def test_a_self_test_never_prints_it(pinfill: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    save_token(TOKEN)
    monkeypatch.setenv("HF_TOKEN", OTHER)
    report = pinfill("selftest", "--no-model", "--json")
    assert json.loads(report.out)
    assert TOKEN not in report.out + report.err and OTHER not in report.out + report.err
