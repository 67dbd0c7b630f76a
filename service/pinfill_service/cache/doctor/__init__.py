"""The doctor: where and why a prompt was not served from the cache, or two request bodies would not share it.

Pure functions over what is remembered of requests; no numpy, no engine, no files.
"""

from pinfill_service.cache.doctor.bodies import compare_bodies
from pinfill_service.cache.doctor.diagnosis import diagnose
from pinfill_service.cache.doctor.records import Eviction, Finding, Kind, PromptRecord
from pinfill_service.cache.doctor.wording import TITLES

__all__ = ["TITLES", "Eviction", "Finding", "Kind", "PromptRecord", "compare_bodies", "diagnose"]
