"""What the management API under /pinfill/v1 takes and answers; the tray app and the commands read it with these.

| route | takes | answers |
|---|---|---|
| GET status | | Status |
| GET entries | | Entries |
| DELETE entries/{id} | | Evicted; 404 no such entry, 409 pinned or in use |
| POST entries/evict-unpinned | | Evicted |
| GET pins | | Pins |
| POST pins | PinCreate | 201 Pin; 400 does not fit the context, 409 name taken, 507 does not fit a budget |
| GET pins/{name} | | Pin |
| PATCH pins/{name} | PinChange | Pin |
| DELETE pins/{name} | | Unpinned |
| GET pins/{name}/content | | PinText |
| POST pins/{name}/refresh | PinRefresh | Pin |
| POST pins/{name}/rebuild | | Pin |
| POST pins/{name}/verify | VerifyRequest (may be left out) | VerifyReport |
| GET requests?limit=&before= | | Requests, latest first |
| GET requests/{id} | | RequestDetail |
| GET savings?days= | | Savings |
| GET models | | Models |
| POST models/{name}/pull | | 202 ModelTask; progress comes as events |
| DELETE models/{name}/pull | | 202 ModelTask; `model.state` tells when it has stopped; 404 it is not being pulled |
| POST models/{name}/load | | ModelTask, when it is loaded |
| POST models/unload | | ModelTask |
| DELETE models/{name} | | ModelTask |
| GET settings | | SettingsView |
| PATCH settings | SettingsChange | SettingsView |
| GET events | Last-Event-ID as a header | an event stream; `data` of each event is one of the *Event models |

The schemas live in `manage_*.py` by topic; import them from here.

Errors have OpenAI's envelope. Sizes are bytes, durations seconds, times Unix times in seconds.
"""

from __future__ import annotations

from pinfill_service.api.schemas.manage_base import ModelState, PinKind, PinState
from pinfill_service.api.schemas.manage_entries import (
    Entries,
    Entry,
    Evicted,
)
from pinfill_service.api.schemas.manage_events import (
    DiskProblemEvent,
    EntryEvictedEvent,
    ModelProgressEvent,
    ModelStateEvent,
    PinProgressEvent,
    PinStateEvent,
    RequestFinishedEvent,
    RequestProgressEvent,
    RequestStartedEvent,
    ResetEvent,
)
from pinfill_service.api.schemas.manage_pins import (
    Pin,
    PinChange,
    PinContent,
    PinCreate,
    PinRefresh,
    Pins,
    PinText,
    SourceFile,
    Unpinned,
    Verification,
    VerifyReport,
    VerifyRequest,
)
from pinfill_service.api.schemas.manage_requests import (
    Finding,
    RequestDetail,
    Requests,
    RequestSegment,
    RequestSummary,
    Savings,
    SavingsByDay,
    SavingsByPin,
    SavingsPart,
)
from pinfill_service.api.schemas.manage_service import (
    Activity,
    DiskUse,
    LoadedModel,
    MemoryUse,
    ModelEntry,
    Models,
    ModelTask,
    Problem,
    PromptRule,
    SettingsChange,
    SettingsView,
    Status,
)

API_VERSION = 1

__all__ = [
    "API_VERSION",
    "Activity",
    "DiskProblemEvent",
    "DiskUse",
    "Entries",
    "Entry",
    "EntryEvictedEvent",
    "Evicted",
    "Finding",
    "LoadedModel",
    "MemoryUse",
    "ModelEntry",
    "ModelProgressEvent",
    "ModelState",
    "ModelStateEvent",
    "ModelTask",
    "Models",
    "Pin",
    "PinChange",
    "PinContent",
    "PinCreate",
    "PinKind",
    "PinProgressEvent",
    "PinRefresh",
    "PinState",
    "PinStateEvent",
    "PinText",
    "Pins",
    "Problem",
    "PromptRule",
    "RequestDetail",
    "RequestFinishedEvent",
    "RequestProgressEvent",
    "RequestSegment",
    "RequestStartedEvent",
    "RequestSummary",
    "Requests",
    "ResetEvent",
    "Savings",
    "SavingsByDay",
    "SavingsByPin",
    "SavingsPart",
    "SettingsChange",
    "SettingsView",
    "SourceFile",
    "Status",
    "Unpinned",
    "Verification",
    "VerifyReport",
    "VerifyRequest",
]
