"""One frozen settings object: file, then environment (PINFILL_*), then flags, each overriding the one before."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import platformdirs
import psutil
from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from pinfill_service.prompt.stable import RULES

DEFAULT_PORT = 7463
DEFAULT_MODEL = "smollm2-135m"
MIB = 1 << 20
PROVIDERS = ("auto", "cpu", "npu", "vitisai", "ryzenai")
_LIBRARY_SUFFIXES = (".so", ".dll", ".dylib")
_OPTION_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")


def home() -> Path:
    """The folder that holds everything Pinfill keeps: PINFILL_HOME, or the platform's data folder for this user."""
    override = os.environ.get("PINFILL_HOME")
    return Path(override).expanduser() if override else Path(platformdirs.user_data_dir("pinfill", appauthor=False))


def default_budget_mib() -> int:
    """RAM for cached KV when nobody chose: a quarter of the machine's, at most 4 GiB."""
    return int(min(psutil.virtual_memory().total // 4, 4 << 30)) // MIB


def default_disk_budget_mib() -> int:
    """Disk for KV files when nobody chose: a tenth of what is free, at most 16 GiB."""
    folder = next(path for path in (home(), *home().parents) if path.exists())
    return int(min(psutil.disk_usage(str(folder)).free // 10, 16 << 30)) // MIB


def default_threads() -> int:
    """Physical cores: a second thread on a core slows matrix products down."""
    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


class Settings(BaseSettings):
    """Everything a user can choose. Build it with keyword arguments for flags; None never overrides."""

    model_config = SettingsConfigDict(env_prefix="PINFILL_", frozen=True, extra="ignore")

    host: str = "127.0.0.1"
    port: int = Field(DEFAULT_PORT, ge=0, le=65535)  # 0: any free port
    allowed_hosts: tuple[str, ...] = ()  # Host header names accepted beside the loopback ones
    api_key: str | None = Field(None, repr=False)  # None: the one in the keyring, or in KEY_FILE of keys.py
    no_key: bool = False  # serve without a key; loopback only

    model: str = DEFAULT_MODEL
    threads: int = Field(default_factory=default_threads, ge=1)
    slots: int = Field(8, ge=1, le=64)  # sequences that can run at once
    context_length: int | None = Field(None, ge=16)  # None: what the model was made for
    memory_budget_mib: int = Field(default_factory=default_budget_mib, ge=0)
    disk_budget_mib: int = Field(default_factory=default_disk_budget_mib, ge=0)  # for the KV of pins; 0: none
    keep_sessions: bool = False  # unpinned prefixes go to disk too, token ids and all: they are the prompts' text
    history: bool = False  # the texts of requests are kept in the ledger too, cut to a set length
    rules: dict[str, bool] = Field(default_factory=dict)  # prompt rules that are switched, by name; see prompt/stable
    chunk_tokens: int = Field(512, ge=16, le=8192)
    queue_limit: int = Field(256, ge=1)
    max_body_mib: int = Field(32, ge=1)

    # Where the model runs: auto (an NPU if there is one that can run the model, else the CPU), cpu, npu, vitisai,
    # ryzenai, or the path of a plugin execution provider library. A library is code: these four settings are read from
    # the user's own settings only, never from a model folder.
    provider: str = "auto"
    provider_library: Path | None = None  # the plugin library for auto, npu and ryzenai; RYZENAI_EP_PATH counts too
    provider_options: dict[str, str] = Field(default_factory=dict)  # handed to the execution provider as they are
    vitisai_config: Path | None = None  # VitisAI's config_file, which bf16 models need

    @field_validator("rules")
    @classmethod
    def _known_rules(cls, value: dict[str, bool]) -> dict[str, bool]:
        unknown = sorted(value.keys() - {rule.name for rule in RULES})
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no rule; there are {', '.join(rule.name for rule in RULES)}")
        return value

    @field_validator("provider")
    @classmethod
    def _known_provider(cls, value: str) -> str:
        if value in PROVIDERS or value.endswith(_LIBRARY_SUFFIXES) or set(value) & {"/", "\\"}:
            return value
        raise ValueError(f"it is one of {', '.join(PROVIDERS)}, or the path of a plugin library")

    @field_validator("provider_library")
    @classmethod
    def _one_library(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is not None and info.data.get("provider", "auto") not in PROVIDERS:
            raise ValueError("provider is the path of a library already, so leave provider_library out")
        return value

    @field_validator("provider_options")
    @classmethod
    def _plain_options(cls, value: dict[str, str]) -> dict[str, str]:
        for name, option in value.items():
            if not _OPTION_NAME.fullmatch(name) or len(option) > 1024 or not option.isprintable():
                raise ValueError(f"{name!r} is not a plain name with a short, printable value")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = TomlConfigSettingsSource(settings_cls, toml_file=home() / "settings.toml")
        return init_settings, env_settings, file

    @classmethod
    def from_flags(cls, **flags: Any) -> Settings:
        """Settings in which every flag that is not None wins over environment and file."""
        return cls(**{name: value for name, value in flags.items() if value is not None})
