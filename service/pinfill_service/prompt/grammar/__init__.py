"""Grammars for replies: JSON of a schema, and tool calls whose arguments keep to theirs."""

from pinfill_service.prompt.grammar.compiler import Grammars
from pinfill_service.prompt.grammar.errors import SchemaError
from pinfill_service.prompt.grammar.spec import CallWrapper, GrammarSpec, JsonReply, Tool, ToolCalls

__all__ = ["CallWrapper", "GrammarSpec", "Grammars", "JsonReply", "SchemaError", "Tool", "ToolCalls"]
