"""One frozen settings object: file, then environment (PINFILL_*), then flags, each overriding the one before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import platformdirs
import psutil
from pydantic import Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

DEFAULT_PORT = 7463
DEFAULT_MODEL = "smollm2-135m"
MIB = 1 << 20


def home() -> Path:
    """The folder that holds everything Pinfill keeps: PINFILL_HOME, or the platform's data folder for this user."""
    override = os.environ.get("PINFILL_HOME")
    return Path(override).expanduser() if override else Path(platformdirs.user_data_dir("pinfill", appauthor=False))


def default_budget_mib() -> int:
    """RAM for cached KV when nobody chose: a quarter of the machine's, at most 4 GiB."""
    return int(min(psutil.virtual_memory().total // 4, 4 << 30)) // MIB


def default_threads() -> int:
    """Physical cores: a second thread on a core slows matrix products down."""
    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


class Settings(BaseSettings):
    """Everything a user can choose. Build it with keyword arguments for flags; None never overrides."""

    model_config = SettingsConfigDict(env_prefix="PINFILL_", frozen=True, extra="ignore")

    host: str = "127.0.0.1"
    port: int = Field(DEFAULT_PORT, ge=0, le=65535)  # 0: any free port
    allowed_hosts: tuple[str, ...] = ()  # Host header names accepted beside the loopback ones
    api_key: str | None = Field(None, repr=False)  # None: the one in the system keyring
    no_key: bool = False  # serve without a key; loopback only

    model: str = DEFAULT_MODEL
    threads: int = Field(default_factory=default_threads, ge=1)
    slots: int = Field(8, ge=1, le=64)  # sequences that can run at once
    context_length: int | None = Field(None, ge=16)  # None: what the model was made for
    memory_budget_mib: int = Field(default_factory=default_budget_mib, ge=0)
    chunk_tokens: int = Field(512, ge=16, le=8192)
    queue_limit: int = Field(256, ge=1)
    max_body_mib: int = Field(32, ge=1)

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
