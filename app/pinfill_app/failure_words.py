"""What the service says, in the window's language: it speaks English, with a stable code for each of its reasons.

In an English window the service's own words are shown, for they are more exact. In any other one there is a translated
sentence by the code, and the service's words behind it, so that no number and no name is lost.
"""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QCoreApplication

from pinfill_app.failure import Failure, FailureKind
from pinfill_app.translations import spoken
from pinfill_service.api.schemas.manage import LoadedModel, PinState
from pinfill_service.documents.inventory import SkippedEntry, Why

_CPU = "CPUExecutionProvider"

ProblemKind = Literal["disk", "history", "file_set_aside", "model", "memory"]


def told(words: str | None, said: str) -> str:
    """`words` are ours, and None where we have none; `said` is what the service said."""
    if spoken() is None or words is None:
        return said
    return _tr("{} Details: {}").format(words, said) if said else words


def failure_words(code: str | None, said: str) -> str:
    """Why the service, or a command, did not do what it was asked."""
    return told(code_words().get(code or ""), said)


def error_words(error: Exception) -> str:
    """What is wrong, of an error that code shared with the service raised here."""
    return failure_words(getattr(error, "code", None), str(error) or type(error).__name__)


def provider_words(model: LoadedModel) -> str:
    """Why a model runs where it does; empty where the service does not say."""
    if not model.provider_note:
        return ""
    words = (
        _tr("Nothing else here can run it, or the settings ask for that.")
        if model.provider == _CPU
        else _tr("That is not yet verified on hardware.")
    )
    return told(words, model.provider_note)


def refused(said: str, code: str | None = None, status: int | None = None) -> Failure:
    """The failure of something that was refused in these words."""
    return Failure(FailureKind.REFUSED, failure_words(code, said), status, code, said)


def reason_words(state: PinState, reason: str) -> str:
    """Why a pin is in its state; empty where there is no reason."""
    words: dict[PinState, str] = {
        "queued": _tr("Not all of it is there, so it is prefilled again by itself."),
        "prefilling": _tr("Not all of it is there, so it is prefilled again by itself."),
        "warm": _tr("It can be used, but it is not on disk: after a restart it is prefilled again."),
        "cold": _tr("It can be used, but it is not on disk: after a restart it is prefilled again."),
        "stale": _tr(
            "It is not what its files hold, was made for another model, or is read otherwise now. Refresh it."
        ),
        "failed": _tr("It could not be prefilled, so it cannot be used. Refresh it, or pin it again."),
    }
    return told(words.get(state), reason) if reason else ""


def problem_words(kind: ProblemKind, message: str) -> str:
    """What a person should know of the service."""
    words: dict[ProblemKind, str] = {
        "disk": _tr("Prefixes cannot be kept on disk. Look whether it is full, or may not be written to."),
        "history": _tr("The file with pins and requests has a problem. Look whether the disk is full or damaged."),
        "file_set_aside": _tr("A file with a prefix was damaged. It was set aside, and is prefilled again."),
        "model": code_words()["model_not_loaded"],
        "memory": _tr("Memory is short, so less is cached until there is more. Close other programs."),
    }
    return told(words.get(kind), message)


def outdated_words(sentence: str) -> str:
    """That a model was converted by an older version, and how to make it again."""
    return told(_tr("An older version of Pinfill converted this model. Make it again."), sentence)


def skipped_words(entry: SkippedEntry) -> str:
    """Why a file or folder is left out, to be put behind its path."""
    words: dict[Why, str] = {
        "hidden": _tr("is hidden"),
        "link": _tr("is a link"),
        "seen": _tr("was there before"),
        "too_large": _tr("is too large"),
        "unreadable": _tr("cannot be read"),
        "unsupported": _tr("is of a kind that is not read"),
    }
    if spoken() is None:
        return entry.reason
    found = words[entry.why]
    return found if entry.why in ("hidden", "link", "seen") else f"{found} ({entry.reason})"


def code_words() -> dict[str, str]:
    """What happened, and what to do, by the code."""
    return {**_requests(), **_pins(), **_files(), **_models(), **_service(), **_self_test()}


def _requests() -> dict[str, str]:
    return {
        "invalid_value": _tr("The service cannot use what was entered. Correct it, and try again."),
        "invalid_json": _tr("The service could not read the request. Restart the service, so that both fit."),
        "invalid_content_type": _tr("The service could not read the request. Restart the service, so that both fit."),
        "body_too_large": _tr("That is more than the service takes at once. Shorten it, or pin less."),
        "unsupported_value": _tr("The service cannot do what the request asks for. Leave that out."),
        "unsupported_content": _tr("The service reads text only. Leave out pictures and other files."),
        "unsupported_schema": _tr("Answers cannot be held to this schema. Simplify it."),
        "grammar_error": _tr("The answer could not be held to its form. Simplify the schema, or ask again."),
        "template_error": _tr("The model's chat template does not take these messages. Use another model."),
        "context_length_exceeded": _tr(
            "That is too long for the model's context. Shorten it, or load a model with a longer context."
        ),
        "engine_busy": _tr("Too many requests wait already. Try again in a moment."),
        "engine_closed": _tr("The service is shutting down or changes its model. Try again in a moment."),
        "engine_error": _tr("The model could not finish its work. Try again; if it happens again, look into the log."),
        "internal_error": _tr("Something unforeseen happened in the service. Look into the log, and report it."),
        "request_not_found": _tr("This request is not remembered any more. Send it again."),
        "entry_not_found": _tr("This prefix is not cached any more."),
        "entry_protected": _tr("This prefix is pinned or in use, so it stays. Unpin it first, or wait."),
    }


def _pins() -> dict[str, str]:
    return {
        "pin_error": _tr("That cannot be done with this pin."),
        "pin_not_found": _tr("There is no pin of this name. It may have been unpinned or renamed."),
        "pin_exists": _tr("There is a pin of this name already. Choose another name, or unpin that one first."),
        "pin_state": _tr("The pin is not ready for that. Wait until it is warm, and until a model is loaded."),
        "invalid_pin": _tr("This cannot be pinned, or not be used like that. Pin another text, or refresh the pin."),
        "invalid_pin_name": _tr("This cannot be a name. Use letters from a to z, digits, dots and dashes."),
        "budget_exceeded": _tr(
            "There is no room for this pin. Unpin something, or give prefixes more room in the settings."
        ),
        "nothing_kept": _tr("This service keeps no pins: it runs for one command only."),
    }


def _files() -> dict[str, str]:
    return {
        "document_error": _tr("A file could not be read as text. Choose another one."),
        "file_unreadable": _tr("A file is gone, or may not be read. Put it back, or choose another one."),
        "file_unsupported": _tr("A file is of a kind that is not read. Text, source code, HTML, PDF and DOCX are."),
        "file_damaged": _tr("A file is damaged. Save it again in its program, or choose another one."),
        "file_locked": _tr("A file needs a password. Save a copy without one, and choose that."),
        "file_without_text": _tr("There is no text in it. Choose a file whose text can be selected and copied."),
        "file_too_large": _tr("A file is too large, or takes too long. Choose a smaller one, or a part of it."),
    }


def _models() -> dict[str, str]:
    return {
        "no_model": _tr("No model is loaded. Load one on the Models page."),
        "model_error": _tr("Something is wrong with this model. Choose another one, or fetch it again."),
        "model_not_found": _tr("There is no model of this name. Look at the Models page for those there are."),
        "model_not_loaded": _tr(
            "The model could not be loaded; one that was loaded before goes on. Close other programs if memory is "
            "short, or choose another model."
        ),
        "model_loaded": _tr("This model is loaded. Unload it first, or load another one."),
        "model_busy": _tr("A model is in use, or being loaded. Wait for that, then try again."),
        "model_fixed": _tr("This service was started for one model only. Restart it from Pinfill to change that."),
        "model_exists": _tr("There is another model of this name already. Remove it, or import under another name."),
        "invalid_model_name": _tr("This cannot be a model's name. Rename the file or folder, and import it again."),
        "model_not_importable": _tr("This is no model that Pinfill can use. Choose a GGUF file or an ONNX model."),
        "download_failed": _tr("The download failed. Look whether the network works, then pull again: it goes on."),
        "disk_full": _tr("The disk is full. Free some space, then try again."),
        "pull_failed": _tr("The model could not be fetched. Pull it again; if it fails again, look into the log."),
    }


def _service() -> dict[str, str]:
    return {
        "invalid_api_key": _tr("The service wants another key than Pinfill has. Restart it from Pinfill's menu."),
        "host_not_allowed": _tr("The service refuses this address. Add it to the names in the settings."),
        "origin_not_allowed": _tr("The service refuses requests from web pages."),
        "not_running": _tr("The service does not answer. Start it, then try again."),
        "settings_not_written": _tr("The settings could not be written, so nothing changed. Look at settings.toml."),
        "history_not_deleted": _tr(
            "What was kept of requests could not be deleted. Restart the service, and try again."
        ),
        "invalid_settings": _tr("A setting is not valid. Correct settings.toml, then start the service."),
        "folder_busy": _tr("Another Pinfill works on Pinfill's folder. Use that one, or end it first."),
        "newer_state": _tr("A newer Pinfill wrote Pinfill's folder. Install that version again."),
        "keyring_unavailable": _tr("The keyring cannot be used. Unlock it, or set PINFILL_API_KEY."),
        "unsafe_binding": _tr("Other machines may use the service only with a key. Take no_key out of settings.toml."),
        "runtime_missing": _tr("The onnxruntime library is missing or too old. Install Pinfill again."),
        "provider_unusable": _tr("The model cannot run where the settings want it. Choose the provider auto or cpu."),
        "model_unusable": _tr("The model cannot be read. Fetch or import it again, or choose another one."),
        "out_of_memory": _tr("Memory is too short for that. Close other programs, or choose a smaller model."),
        "installation_damaged": _tr("Files of this installation are missing. Install Pinfill again."),
        "agent_error": _tr("That cannot be done with this agent. Look at its settings, or connect it by hand."),
        "system_error": _tr("The system did not allow it. Look at the file or address that is named here."),
    }


def _self_test() -> dict[str, str]:
    return {
        "machine_unknown": _tr("What this machine has could not be found out. Look into the log, and report it."),
        "no_answer": _tr("No answer came. Look into the log, and report it with the text below."),
        "answer_differs": _tr("The answer from the cache differs from that of a cold run. Please report this."),
        "nothing_cached": _tr("Nothing of the second request came from the cache. Please report this."),
        "npu_without_driver": _tr("The NPU has no driver. Install the one of its vendor."),
        "npu_not_accessible": _tr("You may not use the NPU. Become a member of the group that its device belongs to."),
    }


def _tr(text: str) -> str:
    return QCoreApplication.translate("failures", text)
