"""Tools of the Responses API: which of them the model is offered, and under what names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pinfill_service.api.errors import invalid_value
from pinfill_service.api.json_text import is_shallow
from pinfill_service.prompt.chat import ToolChoice

MAX_LEVELS = 64  # of JSON that is sent back or kept: real schemas have ten
MAX_NAME = 128

Tool = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolName:
    """A function as the client knows it."""

    name: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """Functions in the form of `ChatRequest`. `sent` are those of the client's tools they come from, as they came.

    Invariant: `known` and `called` are inverse to each other.
    """

    tools: tuple[Tool, ...] = ()
    sent: tuple[Tool, ...] = ()
    known: Mapping[str, ToolName] = field(default_factory=dict)  # to the client, by the model's name
    called: Mapping[ToolName, str] = field(default_factory=dict)  # by the model, by the client's name

    def client_name(self, name: str) -> ToolName:
        return self.known.get(name, ToolName(name))

    def model_name(self, known: ToolName) -> str:
        return self.called.get(known, known.name)


def offered_tools(tools: Sequence[Tool]) -> OfferedTools:
    """Functions, those in namespaces too. Other types (web search, shells, ...) run at OpenAI or need a grammar of
    their own: they are left out, for agents send them to every server. Raises ApiError for what is no function.

    A function in a namespace keeps its plain name, unless another one has it: then it is NAMESPACE__NAME.
    """
    sent = tuple(tool for tool in tools if tool.get("type") in ("function", "namespace"))
    functions = list(_functions(tools))
    taken = {function["name"] for function, namespace in functions if namespace is None}
    forms, known = [], {}
    for function, namespace in functions:
        plain = name = function["name"]
        if namespace is not None and (plain in taken or plain in known):
            name = f"{namespace}__{plain}"
        if name in known:
            raise invalid_value("tools", f"two of them have the name {name!r}")
        known[name] = ToolName(plain, namespace)
        forms.append({"type": "function", "function": {**function, "name": name}})
    return OfferedTools(tuple(forms), sent, known, {each: name for name, each in known.items()})


def choose_tools(choice: Any, offered: OfferedTools, *, parallel: bool) -> ToolChoice:
    """What `tool_choice` means. Raises ApiError for what cannot be done."""
    if isinstance(choice, dict):
        if not is_shallow(choice, MAX_LEVELS):
            raise invalid_value("tool_choice", f"it is nested more than {MAX_LEVELS} levels deep")
        return _chosen(choice, offered, parallel)
    if choice is None or choice == "auto":
        return ToolChoice(parallel=parallel)
    if choice == "none":
        return ToolChoice("none", parallel=parallel)
    if choice != "required":
        raise invalid_value("tool_choice", "it is auto, none, required or an object")
    _check_any(offered.tools)
    return ToolChoice("required", parallel=parallel)


def _chosen(choice: Mapping[str, Any], offered: OfferedTools, parallel: bool) -> ToolChoice:
    kind = choice.get("type")
    if kind == "function":
        return ToolChoice("required", _model_name(choice, offered), parallel)
    if kind != "allowed_tools":
        raise invalid_value("tool_choice.type", f"tools of type {kind!r} are not supported, only functions")
    mode, allowed = choice.get("mode", "auto"), choice.get("tools")
    if mode not in ("auto", "required") or not isinstance(allowed, list):
        raise invalid_value("tool_choice", "allowed_tools needs a mode, auto or required, and a list of tools")
    functions = [tool for tool in allowed if isinstance(tool, dict) and tool.get("type") == "function"]
    left = frozenset(_model_name(tool, offered) for tool in functions)
    if mode == "required":
        _check_any(left)
    return ToolChoice(mode, parallel=parallel, allowed=left)


def _model_name(named: Mapping[str, Any], offered: OfferedTools) -> str:
    name, namespace = named.get("name"), named.get("namespace")
    known = ToolName(str(name), namespace if isinstance(namespace, str) else None)
    found = offered.model_name(known)
    if found not in offered.known:
        raise invalid_value("tool_choice", f"there is no function {name!r} among the tools")
    return found


def _check_any(tools: Collection[Any]) -> None:
    if not tools:
        raise invalid_value("tool_choice", "a call is required, and no function is among the tools")


def _functions(tools: Sequence[Tool]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """(function, its namespace) for all there are."""
    for number, tool in enumerate(tools):
        where = f"tools.{number}"
        if not is_shallow(tool, MAX_LEVELS):
            raise invalid_value(where, f"it is nested more than {MAX_LEVELS} levels deep")
        if tool.get("type") == "function":
            yield _function(tool, where), None
        elif tool.get("type") == "namespace":
            namespace, inner = tool.get("name"), tool.get("tools")
            if not isinstance(namespace, str) or not namespace or not isinstance(inner, list):
                raise invalid_value(where, "a namespace needs a name and a list of tools")
            for at, each in enumerate(inner):
                if isinstance(each, dict) and each.get("type") == "function":
                    yield _function(each, f"{where}.tools.{at}"), namespace


def _function(tool: Tool, where: str) -> dict[str, Any]:
    """The `function` of a tool, which some clients send as for chat completions: one level deeper."""
    nested = tool.get("function")
    source = nested if isinstance(nested, dict) else tool
    name, parameters = source.get("name"), source.get("parameters")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise invalid_value(f"{where}.name", f"a function needs a name of 1 to {MAX_NAME} characters")
    if parameters is not None and not isinstance(parameters, dict):
        raise invalid_value(f"{where}.parameters", "parameters are a JSON schema, an object")
    function: dict[str, Any] = {"name": name}
    if isinstance(source.get("description"), str):
        function["description"] = source["description"]
    function["parameters"] = parameters if parameters is not None else {"type": "object", "properties": {}}
    if source.get("strict") is True:
        function["strict"] = True
    return function
