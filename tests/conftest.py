"""What all tests share: how hypothesis searches."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Nothing asserts a time, so no example is too slow either; CI tries the same examples every time, people others.
settings.register_profile(
    "pinfill", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("pinfill")
