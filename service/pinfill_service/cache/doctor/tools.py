"""Tool definitions: finding them in a prompt, and what changed between two lists of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pinfill_service.cache.doctor.json_tree import Found, first_difference

_SCHEMAS = ("parameters", "input_schema", "inputSchema")
# Templates introduce the list of tools with some words; a prompt without tools differs from there on.
_INTRODUCTION = 600
_NAMED = 5


@dataclass(frozen=True, slots=True)
class ToolsChange:
    """How one list of tools became another."""

    kind: Literal["tools_reordered", "tools_changed"]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "tools_reordered":
            return "the same tools, in another order"
        parts = [(self.added, "added"), (self.removed, "removed"), (self.edited, "edited")]
        return "; ".join(f"{word} {_list(names)}" for names, word in parts if names) or "other duplicates"


def tool_name(tool: Any) -> str | None:
    """The name of a tool definition in any dialect; None for what is none."""
    if not isinstance(tool, Mapping):
        return None
    function = tool.get("function")
    if isinstance(function, Mapping):
        name = None if "arguments" in function else function.get("name")  # a call, not a definition
    else:
        name = tool.get("name") if any(isinstance(tool.get(key), Mapping) for key in _SCHEMAS) else None
    return name if isinstance(name, str) else None


def tools_change(before: Sequence[Any], after: Sequence[Any]) -> ToolsChange | None:
    """What changed; None when both lists hold the same tools in the same order, whatever the order of their keys."""
    old, new = _by_name(before), _by_name(after)
    edited = tuple(name for name in old if name in new and first_difference(old[name], new[name]) is not None)
    added = tuple(name for name in new if name not in old)
    removed = tuple(name for name in old if name not in new)
    if added or removed or edited:
        return ToolsChange("tools_changed", added, removed, edited)
    if [_name(tool) for tool in before] == [_name(tool) for tool in after]:
        return None
    same = len(before) == len(after)
    return ToolsChange("tools_reordered" if same else "tools_changed")


def tools_change_at(before: Sequence[Found], after: Sequence[Found], at: int) -> ToolsChange | None:
    """What changed about the tools among JSON values of two prompts that differ first at character `at`; None when
    that place has nothing to do with tools.
    """
    old, new = ([value for value in side if _tools_in(value)] for side in (before, after))
    if not any(side and side[0].start <= at <= side[-1].end for side in (old, new)):
        only = old or new
        if (old and new) or not only or not 0 <= only[0].start - at <= _INTRODUCTION:
            return None
    return tools_change([tool for value in old for tool in _tools_in(value)],
                        [tool for value in new for tool in _tools_in(value)])  # fmt: skip


def _tools_in(found: Found) -> list[Any]:
    """The tools of a JSON value that is a tool or a list of nothing else."""
    values = found.value if isinstance(found.value, list) else [found.value]
    return values if all(tool_name(value) is not None for value in values) else []


def _name(tool: Any) -> str:
    """A name also for tools that have none: those that servers bring along have only a type."""
    names = [tool.get("name"), tool.get("type")] if isinstance(tool, Mapping) else []
    return next((name for name in (tool_name(tool), *names) if isinstance(name, str)), "a tool without a name")


def _by_name(tools: Sequence[Any]) -> dict[str, list[Any]]:
    """Tools of one name together, in order."""
    named: dict[str, list[Any]] = {}
    for tool in tools:
        named.setdefault(_name(tool), []).append(tool)
    return named


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
