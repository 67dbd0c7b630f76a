"""/pinfill/v1/models: which there are, and which one answers."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from pinfill_service.api.context import Application, ApplicationDep
from pinfill_service.api.errors import ApiError
from pinfill_service.api.schemas.manage import ModelEntry, Models, ModelStateEvent, ModelTask
from pinfill_service.models.catalog import CatalogError, ModelError, load_catalog
from pinfill_service.models.context_needs import context_needs
from pinfill_service.models.library import ModelBusyError, ModelNameError, ModelNotFoundError

router = APIRouter(prefix="/pinfill/v1/models", tags=["models"])


@router.get("")
async def models(application: ApplicationDep) -> Models:
    """The models of the catalogue and those on this machine."""
    return Models(models=await asyncio.to_thread(_entries, application))


@router.post("/unload")
async def unload(application: ApplicationDep) -> ModelTask:
    """Closes the model once running requests have ended, and frees its memory."""
    await application.models.unload()
    return ModelTask(name=None, state=application.models.state)


@router.post("/{name}/pull", status_code=202)
async def pull(name: str, application: ApplicationDep) -> ModelTask:
    """Begins to fetch a model of the catalogue; `model.progress` and `model.state` tell how it goes."""
    try:
        await asyncio.to_thread(lambda: load_catalog().find(name))
    except CatalogError as error:
        raise ApiError(404, str(error), code="model_not_found") from error
    application.pulls.start(name)
    return ModelTask(name=name, state="pulling")


@router.delete("/{name}/pull", status_code=202)
async def stop_pull(name: str, application: ApplicationDep) -> ModelTask:
    """Stops a pull; what can be gone on from stays. `model.state` tells when it has stopped."""
    if not application.pulls.stop(name):
        raise ApiError(404, f"The model {name} is not being pulled.", code="model_not_found")
    return ModelTask(name=name, state="pulling")


@router.post("/{name}/load")
async def load(name: str, application: ApplicationDep) -> ModelTask:
    """Has another model answer, once it is loaded and running requests have ended. A model that cannot be loaded
    leaves the one before in place.
    """
    await application.models.load(name, application.settings)
    return ModelTask(name=name, state=application.models.state)


@router.delete("/{name}")
async def remove(name: str, application: ApplicationDep) -> ModelTask:
    """Deletes a model from this machine."""
    loaded = application.models.current
    if loaded is not None and loaded.name == name:
        raise ApiError(409, f"The model {name} is loaded. Load another one first, or unload it.", code="model_loaded")
    try:
        await asyncio.to_thread(application.library.remove, name)
    except (ModelNotFoundError, ModelNameError) as error:
        raise ApiError(404, str(error), code="model_not_found") from error
    except (ModelBusyError, ModelError) as error:
        raise ApiError(409, str(error), code="model_busy") from error
    application.hub.publish("model.state", ModelStateEvent(name=name, state="removed"))
    return ModelTask(name=name, state="removed")


def _entries(application: Application) -> list[ModelEntry]:
    loaded = application.models.current
    loaded_name, pulling = loaded.name if loaded is not None else None, application.pulls.names
    installed = {model.name: model for model in application.library.installed()}
    catalogue = {entry.name: entry for entry in load_catalog().model}
    entries = []
    for name in [*catalogue, *(name for name in installed if name not in catalogue)]:
        here, known = installed.get(name), catalogue.get(name)
        needs = context_needs(application.library, name) if here is not None else None
        entries.append(
            ModelEntry(
                name=name,
                title=known.title if known is not None else None,
                licence=here.licence if here is not None and here.licence else known.licence if known else None,
                context_length=needs.length if needs is not None else known.context_length if known else None,
                kv_bytes_per_token=needs.bytes_per_token if needs is not None else None,
                bytes=here.bytes_on_disk if here is not None else known.size_bytes if known is not None else 0,
                installed=here is not None,
                in_catalogue=known is not None,
                loaded=name == loaded_name,
                pulling=name in pulling,
                source=here.source if here is not None else None,
                outdated=here.outdated if here is not None else None,
            )
        )
    return entries
