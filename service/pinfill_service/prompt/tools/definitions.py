"""Tool definitions, in whatever API's form they come, in the one form of `ChatRequest`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Tool = Mapping[str, Any]

# Names stand in JSON and in tags, so they hold nothing that could end one; OpenAI allows less, MCP servers use more.
_NAME = re.compile(r"[\w.:/-]{1,256}")

_MARK = "cache_control"


class DefinitionError(ValueError):
    """A definition is none. `where` is the path of the field at fault, `words` say what is wrong with it."""

    def __init__(self, where: str, words: str) -> None:
        super().__init__(f"{where}: {words}.")
        self.where, self.words = where, words


def in_one_form(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The functions among the tools, in the form that each API's own requests are given. Raises DefinitionError.

    Chat completions' and Ollama's stay as they are, without marks. The Responses API, which groups some in namespaces,
    and Anthropic write functions flat. Tools of other types, which only servers can run, are left out.
    """
    found = [each for number, tool in enumerate(tools) for each in _functions(tool, f"tools.{number}")]
    check_definitions((where, form) for where, form, namespace in found if namespace is None)
    taken = {form["function"]["name"] for _, form, namespace in found if namespace is None}
    named: list[tuple[str, Tool]] = []
    for where, form, namespace in found:
        name = form["function"].get("name")
        if isinstance(name, str) and namespace is not None:
            if name in taken:
                form = {**form, "function": {**form["function"], "name": f"{namespace}__{name}"}}
            taken.add(name)
        named.append((where, form))
    check_definitions(named)
    return tuple(form for _, form in named)


def check_definitions(tools: Iterable[tuple[str, Tool]]) -> None:
    """Raises DefinitionError for tools without a proper function, or of the name of one before. With each comes the
    path of what its function was made of.
    """
    names: set[str] = set()
    for where, tool in tools:
        function = tool.get("function")
        if not isinstance(function, Mapping):
            raise DefinitionError(where, "a tool needs a function with a name")
        name = function.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise DefinitionError(
                f"{where}.name", "a tool's name is made of 1 to 256 letters, digits and any of _ - . : /"
            )
        if name in names:
            raise DefinitionError(f"{where}.name", f"there are two tools of the name {name!r}")
        if not isinstance(function.get("parameters"), Mapping | None):
            raise DefinitionError(f"{where}.parameters", "a tool's parameters are a JSON schema, which is an object")
        names.add(name)


def without_marks(tool: Tool) -> Tool:
    """A tool of chat completions without what some clients mark the end of a prefix with. Marks move; what templates
    write of a tool must not.
    """
    function = tool.get("function")
    kept = {name: value for name, value in tool.items() if name != _MARK}
    if isinstance(function, Mapping):
        kept["function"] = {name: value for name, value in function.items() if name != _MARK}
    return kept


def _functions(tool: Tool, where: str) -> Iterator[tuple[str, Tool, str | None]]:
    """(path, form, namespace) of the functions that a tool is."""
    kind = tool.get("type")
    if kind in (None, "function") and "function" in tool:
        yield f"{where}.function", without_marks(tool), None
    elif kind == "function":
        yield where, _flat(tool, "parameters", where), None
    elif kind == "namespace":
        for path, form in _grouped(tool, where):
            yield path, form, tool["name"]
    elif kind is None or (kind == "custom" and "input_schema" in tool):
        yield where, _flat(tool, "input_schema" if "input_schema" in tool else "parameters", where), None
    elif not isinstance(kind, str):
        raise DefinitionError(f"{where}.type", "it is a text")


def _grouped(namespace: Tool, where: str) -> Iterator[tuple[str, Tool]]:
    inner = namespace.get("tools")
    if not isinstance(namespace.get("name"), str) or not namespace["name"] or not isinstance(inner, list):
        raise DefinitionError(where, "a namespace needs a name and a list of tools")
    for number, tool in enumerate(inner):
        if isinstance(tool, Mapping) and tool.get("type") == "function":
            path = f"{where}.tools.{number}"
            yield path, _flat(tool, "parameters", path)


def _flat(tool: Tool, schema: str, where: str) -> Tool:
    """A function that is written as the tool itself, with its parameters under the name `schema`."""
    parameters = tool.get(schema)
    if not isinstance(parameters, Mapping | None):
        raise DefinitionError(f"{where}.{schema}", "a tool's parameters are a JSON schema, which is an object")
    function: dict[str, Any] = {"name": tool.get("name")}
    if isinstance(tool.get("description"), str):
        function["description"] = tool["description"]
    function["parameters"] = {"type": "object", "properties": {}} if parameters is None else parameters
    form: dict[str, Any] = {"type": "function", "function": function}
    if schema == "parameters" and tool.get("strict") is True:
        function["strict"] = True
    if schema == "input_schema" and tool.get("defer_loading") is True:  # the Responses API's are offered at once
        form["defer_loading"] = True
    return form
