"""The tools a request offers: their names, and what their parameters are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pinfill_service.prompt.canonical import canonical, dump

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
}
_PYTHON_NAMES = {"True": "true", "False": "false", "None": "null"}


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """Parameter schemas by the name of the tool. Falsy when no tool is offered."""

    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.properties)

    def __contains__(self, name: object) -> bool:
        return name in self.properties

    def may_become_one(self, text: str) -> bool:
        """Whether an offered name begins with this text."""
        return any(name.startswith(text) for name in self.properties)

    def is_text(self, tool: str, parameter: str) -> bool:
        """Whether the parameter's value is taken as it is written: also where no type is stated."""
        return _types(self.properties[tool].get(parameter)) in ((), ("string",))

    def value(self, tool: str, parameter: str, text: str) -> str:
        """A value written without JSON's quotes as JSON text: of a type the schema allows, else a string."""
        allowed = _types(self.properties[tool].get(parameter))
        stripped = text.strip()
        try:
            value = json.loads(_PYTHON_NAMES.get(stripped, stripped), parse_constant=_refuse)
            value = canonical(value)
        except (ValueError, RecursionError):
            return dump(text)
        fits = any(_is(value, kind) for kind in allowed)
        return dump(value) if fits else dump(text)


def offered_tools(tools: Iterable[Mapping[str, Any]]) -> OfferedTools:
    """The tools of a request, in OpenAI's form. What is none of them is left out."""
    found: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        function = tool.get("function")
        name = function.get("name") if isinstance(function, Mapping) else None
        if isinstance(function, Mapping) and isinstance(name, str) and name:
            parameters = function.get("parameters")
            properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
            found[name] = properties if isinstance(properties, Mapping) else {}
    return OfferedTools(found)


def _types(schema: Any) -> tuple[str, ...]:
    """The types a schema states by itself; none when it states none or refers to another."""
    stated = schema.get("type") if isinstance(schema, Mapping) else None
    if stated is None and isinstance(schema, Mapping):
        options = schema.get("anyOf", schema.get("oneOf"))
        each = [_types(option) for option in options] if isinstance(options, list) else []
        return tuple(dict.fromkeys(kind for kinds in each for kind in kinds)) if all(each) else ()
    listed = stated if isinstance(stated, list) else [stated]
    return tuple(kind for kind in listed if isinstance(kind, str) and kind in _TYPES)


def _is(value: Any, kind: str) -> bool:
    """Python takes True for a number; JSON does not."""
    return isinstance(value, _TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")


def _refuse(name: str) -> None:
    raise ValueError(name)
