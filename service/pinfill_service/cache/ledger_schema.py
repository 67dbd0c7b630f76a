"""The ledger's tables, their versions, and the statements that bring an older file up to date.

| table | one row for |
|---|---|
| pins | a pin, but for what it holds; `position` is its place in the user's order |
| pin_contents | what a pin holds: JSON, and the SHA-256 of that text |
| pin_names | every pin that a row of days or requests speaks of, also when it is gone |
| days | a local date, model and pin (NULL: no pin served): sums over requests |
| prefill_costs | a model, what runs it, and a depth: seconds a token as last measured, see PrefillCost |
| requests | a request; `prompt`, `reply` and the words of `finding` only while history is on |

Pins have a `number` that stays when they are renamed, so that what they saved goes with them.
"""

from __future__ import annotations

# Everything here has to work with SQLite 3.34, the oldest that a supported Python comes with.
_VERSION_1 = """
CREATE TABLE pins (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    position INTEGER NOT NULL,
    model TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    auto_refresh INTEGER NOT NULL,
    created REAL NOT NULL,
    state TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    error TEXT
);
CREATE TABLE pin_contents (
    pin INTEGER PRIMARY KEY,
    content TEXT NOT NULL,
    sha256 TEXT NOT NULL
);
CREATE TABLE pin_names (
    pin INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);
CREATE TABLE days (
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    pin INTEGER,
    requests INTEGER NOT NULL,
    hits INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    saved_seconds REAL NOT NULL,
    prefill_seconds REAL NOT NULL,
    last_used REAL NOT NULL
);
CREATE UNIQUE INDEX days_key ON days (day, model, ifnull(pin, 0));
CREATE TABLE requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    at REAL NOT NULL,
    route TEXT NOT NULL,
    client TEXT NOT NULL,
    model TEXT NOT NULL,
    pin INTEGER,
    prompt_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    generated_tokens INTEGER NOT NULL,
    queue_seconds REAL NOT NULL,
    prefill_seconds REAL NOT NULL,
    decode_seconds REAL NOT NULL,
    ttft_seconds REAL NOT NULL,
    saved_seconds REAL NOT NULL,
    finish_reason TEXT,
    error TEXT,
    miss_reason TEXT,
    finding TEXT,
    segments TEXT NOT NULL,
    prompt TEXT,
    reply TEXT
);
CREATE INDEX requests_id ON requests (id);
CREATE INDEX requests_at ON requests (at);
"""
_VERSION_2 = """
CREATE TABLE prefill_costs (
    fingerprint TEXT NOT NULL,
    runtime TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    seconds_per_token REAL NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (fingerprint, runtime, bucket)
);
"""

# Number n (from 1) makes a file of version n from one of version n - 1; 0 is an empty file. Append, never change.
MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2)
