"""What a client is told about a schema that replies cannot be held to."""

from __future__ import annotations


class SchemaError(Exception):
    """A schema that replies cannot be held to. `path` is a JSON pointer into it; `tool`: whose parameters it is."""

    code = "unsupported_schema"

    def __init__(self, path: str, reason: str, tool: str | None = None) -> None:
        whose = "The schema" if tool is None else f'The parameters of the tool "{tool}"'
        where = f'at "{path}"' if path else "at its top"
        super().__init__(f"{whose} cannot be used: {where}, {reason}")
        self.path, self.reason, self.tool = path, reason, tool
