"""A Jinja environment for chat templates nobody has read: they come with a model folder from anywhere.

Beyond Jinja's own sandbox (no private attributes, no mutation, short ranges) every loop turn, every call and every text
or list that is made is charged to a budget, so that a template can neither hang the service nor eat its memory.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from jinja2 import nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.ext import loopcontrols as LoopControls
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

BUDGET_KEY = "budget of this rendering"  # no identifier, so no template can name it
ITEMS_PER_STEP = 64
MAX_INTEGER_BITS = 4096

# Filters and string methods whose result can be far larger than what they are given are left out or bounded below.
_FILTERS = frozenset(
    {"abs", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "groupby", "int"}
    | {"items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "round"}
    | {"safe", "select", "selectattr", "sort", "string", "title", "trim", "unique", "upper", "wordcount"}
)
_GROWING_METHODS = frozenset({"center", "expandtabs", "ljust", "rjust", "translate", "zfill"})
_WIDE_PERCENT_FORMAT = re.compile(r"\d{4}|\*")
_WIDE_BRACE_FORMAT = re.compile(r"\d{4}|\{[^{}]*\{")


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What one rendering may use: steps (loop turns, calls, ITEMS_PER_STEP of text), characters of text, seconds."""

    steps: int = 1_000_000
    characters: int = 32 << 20
    seconds: float = 10.0


class Budget:
    """The limits of one rendering, used up as it goes. Raises SecurityError when something runs out."""

    def __init__(self, limits: RenderLimits) -> None:
        self._steps = limits.steps
        self._characters = limits.characters
        self._deadline = time.monotonic() + limits.seconds

    def spend(self, steps: int = 1) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise SecurityError("it takes too many steps")
        if time.monotonic() > self._deadline:
            raise SecurityError("it takes too long")

    def spend_length(self, length: int) -> None:
        """Charges a string or list of `length` items before it is built."""
        if length > self._characters:
            raise SecurityError("it makes too much text")
        self.spend(1 + length // ITEMS_PER_STEP)


def budget_of(context: Context) -> Budget:
    """The budget of the running template. Read from the parent scope, which a template cannot assign to."""
    budget = context.parent[BUDGET_KEY]
    assert isinstance(budget, Budget)
    return budget


class SandboxEnvironment(ImmutableSandboxedEnvironment):
    """Renders as transformers does (trim_blocks, lstrip_blocks, its filters and tags), within a budget.

    Rendering needs a `Budget` in the variable named BUDGET_KEY.
    """

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,
            extensions=[GenerationTag, LoopControls],
            cache_size=0,
        )
        own: dict[str, Callable[..., Any]] = {
            "_concatenated": _concatenated,
            "_made": _made,
            "_metered": _metered,
            "indent": _indent,
            "join": _join,
            "replace": _replace,
            "tojson": _tojson,
        }
        self.filters = {name: _charged(FILTERS[name]) for name in _FILTERS} | own
        del self.globals["lipsum"]

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _Metering().visit(super()._parse(source, name, filename))
        return tree

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str) and attr in _GROWING_METHODS:
            return False
        return super().is_safe_attribute(obj, attr, value)

    def unsafe_undefined(self, obj: Any, attribute: str) -> NoReturn:
        raise SecurityError(f"it uses the attribute {attribute!r}")

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        wrapped = super().wrap_str_format(value)
        if wrapped is not None and _WIDE_BRACE_FORMAT.search(value.__self__):
            raise SecurityError("it formats with a computed or very large width")
        return wrapped

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        budget = budget_of(__context)
        budget.spend()
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            _charge_method(budget, owner, getattr(__obj, "__name__", ""), args)
        return _charge_value(budget, super().call(__context, __obj, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        budget = budget_of(context)
        if operator == "%" and isinstance(left, str) and _WIDE_PERCENT_FORMAT.search(left):
            raise SecurityError("it formats with a computed or very large width")
        if operator == "+" and isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
            budget.spend_length(len(left) + len(right))
        if operator == "*":
            _charge_product(budget, left, right)
        if operator == "**" and max(_bits(left), 1) * abs(float(right)) > MAX_INTEGER_BITS:
            raise SecurityError("it computes a very large number")
        return super().call_binop(context, operator, left, right)


class GenerationTag(Extension):
    """`{% generation %}...{% endgeneration %}` marks what the model wrote, for training; here only the body counts."""

    tags: set[str] = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class _Metering(NodeTransformer):
    """Charges what the sandbox does not intercept: the items of loops, `~`, slices and output."""

    def visit_For(self, node: nodes.For) -> nodes.For:
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "_metered", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:
        self.generic_visit(node)
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, "_concatenated", [], [], None, None, lineno=node.lineno)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Expr:
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        return nodes.Filter(node, "_made", [], [], None, None, lineno=node.lineno)

    def visit_Output(self, node: nodes.Output) -> nodes.Output:
        self.generic_visit(node)
        parts = [nodes.Const(part.data) if isinstance(part, nodes.TemplateData) else part for part in node.nodes]
        node.nodes = [nodes.Filter(part, "_made", [], [], None, None, lineno=node.lineno) for part in parts]
        return node


def _charge_method(budget: Budget, owner: str, name: str, args: tuple[Any, ...]) -> None:
    if name == "replace" and len(args) >= 2:
        budget.spend_length(_replaced_length(owner, str(args[0]), str(args[1])))
    elif name == "join" and args and hasattr(args[0], "__len__"):
        budget.spend_length(_joined_length(owner, args[0]))


def _charge_product(budget: Budget, left: Any, right: Any) -> None:
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(count, int):
            budget.spend_length(len(sequence) * max(count, 0))
    if _bits(left) + _bits(right) > MAX_INTEGER_BITS:
        raise SecurityError("it computes a very large number")


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _replaced_length(text: str, old: str, new: str) -> int:
    return len(text) + text.count(old) * max(len(new) - len(old), 0)


def _joined_length(separator: str, items: Iterable[Any]) -> int:
    return sum(len(separator) + (len(item) if isinstance(item, str) else 1) for item in items)


def _charged(function: Callable[..., Any]) -> Callable[..., Any]:
    """One of Jinja's filters, with its result charged."""
    wanted = getattr(getattr(function, "jinja_pass_arg", None), "name", None)

    @pass_context
    def run(context: Context, *args: Any, **kwargs: Any) -> Any:
        passed = {"context": context, "eval_context": context.eval_ctx, "environment": context.environment}
        own = (passed[wanted],) if wanted is not None else ()
        return _charge_value(budget_of(context), function(*own, *args, **kwargs))

    return run


def _charge_value(budget: Budget, value: Any) -> Any:
    """The value, after a charge for its length; the items of an iterator are charged as they come."""
    if isinstance(value, str | list | tuple):
        budget.spend_length(len(value))
    elif isinstance(value, Iterator):
        return (_charge_value(budget, item) for item in _spending(budget, value))
    return value


def _spending(budget: Budget, items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        budget.spend()
        yield item


@pass_context
def _made(context: Context, value: Any) -> Any:
    return _charge_value(budget_of(context), value)


@pass_context
def _metered(context: Context, items: Iterable[Any]) -> Iterator[Any]:
    return _spending(budget_of(context), items)


@pass_context
def _concatenated(context: Context, parts: list[Any]) -> str:
    texts = [str(part) for part in parts]
    budget_of(context).spend_length(sum(map(len, texts)))
    return "".join(texts)


@pass_context
def _join(context: Context, items: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    found = list(FILTERS["map"](context, items, attribute=attribute)) if attribute is not None else list(items)
    budget_of(context).spend_length(_joined_length(d, found))
    return str(d).join(str(item) for item in found)


@pass_context
def _replace(context: Context, text: Any, old: str, new: str, count: int = -1) -> str:
    text = str(text)
    budget_of(context).spend_length(_replaced_length(text, str(old), str(new)))
    replaced: str = text.replace(str(old), str(new), count)
    return replaced


@pass_context
def _indent(context: Context, text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    step = len(width) if isinstance(width, str) else int(width)
    budget_of(context).spend_length(len(text) + (text.count("\n") + 1) * max(step, 0))
    indented: str = FILTERS["indent"](text, width, first, blank)
    return indented


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """As transformers: plain JSON, without Jinja's escapes of HTML characters."""
    if indent is not None and not 0 <= int(indent) <= 16:
        raise SecurityError("it indents JSON too far")
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def variables(values: Mapping[str, Any], limits: RenderLimits) -> dict[str, Any]:
    """The values a template sees, with a fresh budget among them."""
    return {**values, BUDGET_KEY: Budget(limits)}
