"""/pinfill/v1/settings: what can be changed while the service runs."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter

from pinfill_service.api.context import Application, ApplicationDep
from pinfill_service.api.errors import ApiError
from pinfill_service.api.schemas.manage import PromptRule, SettingsChange, SettingsView
from pinfill_service.cache.ledger_records import LedgerError
from pinfill_service.prompt.stable import RULES, is_on
from pinfill_service.settings import MIB, Settings
from pinfill_service.settings_file import SettingsFileError, write_settings

CHANGEABLE = ("memory_budget_mib", "disk_budget_mib", "keep_sessions", "history", "rules")
_SECRET = ("api_key",)

router = APIRouter(prefix="/pinfill/v1/settings", tags=["settings"])


@router.get("")
async def settings(application: ApplicationDep) -> SettingsView:
    """All settings but the key."""
    return _view(application.settings)


@router.patch("")
async def change(body: SettingsChange, application: ApplicationDep) -> SettingsView:
    """Changes settings now, and for the next start."""
    refused = sorted(body.model_extra or ())
    if refused:
        known = refused[0] in Settings.model_fields
        why = "needs a restart: set it in settings.toml, then start Pinfill again" if known else "is no setting"
        raise ApiError(400, f"{refused[0][:100]} {why}.", code="invalid_value", param=refused[0][:100])
    rules = [rule.name for rule in RULES]
    for rule in body.rules or ():
        if rule not in rules:
            words = f"There is no rule {rule[:100]!r}, only {', '.join(rules)}."
            raise ApiError(400, words, code="invalid_value", param="rules")
    changes = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    if changes:
        await asyncio.to_thread(_apply, application, changes)
    return _view(application.settings)


def _apply(application: Application, changes: dict[str, Any]) -> None:
    if application.settings_file is not None:
        try:
            write_settings(application.settings_file, changes)
        except SettingsFileError as error:
            raise ApiError(409, str(error), code="settings_not_written") from error
    if "rules" in changes:
        changes = {**changes, "rules": {**application.settings.rules, **changes["rules"]}}
    application.settings = new = application.settings.model_copy(update=changes)
    loaded = application.models.current
    if loaded is not None and changes.keys() & {"memory_budget_mib", "disk_budget_mib"}:
        budgets = new.memory_budget_mib * MIB, new.disk_budget_mib * MIB
        loaded.engine.prefixes.set_budgets(*budgets).result()
    if application.kept is not None:
        try:
            application.kept.settings_changed(new, changes)
        except LedgerError as error:
            raise ApiError(409, str(error), code="history_not_deleted") from error


def _view(current: Settings) -> SettingsView:
    values = current.model_dump(mode="json", exclude=set(_SECRET))
    return SettingsView(
        values=values,
        changeable=list(CHANGEABLE),
        needs_restart=[name for name in values if name not in CHANGEABLE],
        rules=[
            PromptRule(
                name=rule.name,
                title=rule.title,
                description=rule.description,
                default=rule.default,
                on=is_on(rule, current.rules),
                prevents=list(rule.prevents),
            )
            for rule in RULES
        ],
    )
