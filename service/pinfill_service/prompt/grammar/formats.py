"""The string formats that replies are held to (JSON Schema validation 2020-12, section 7.3)."""

from __future__ import annotations

_LONG_MONTHS = r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
_SHORT_MONTHS = r"(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])"
_DAY = rf"(?:{_LONG_MONTHS}|{_SHORT_MONTHS})"
_LEAP_YEAR = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = rf"(?:(?:[0-9]{{3}}[1-9]|[0-9]{{2}}[1-9]0|[0-9][1-9]00|[1-9]000)-{_DAY}|{_LEAP_YEAR}-02-29)"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,5}}"
_ATOM = r"[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]{1,15}"

# Narrower than the compiler's own, which let February 29 into every year and labels be longer than names may be.
PATTERNS = {
    "date": f"^{_DATE}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "email": rf"^{_ATOM}(?:\.{_ATOM}){{0,3}}@{_HOST}$",
    "hostname": f"^{_HOST}$",
    "time": f"^{_TIME}$",
}
FORMATS = frozenset({*PATTERNS, "duration", "ipv4", "ipv6", "uri", "uuid"})
