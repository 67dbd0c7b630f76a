"""The chat template of a model folder: messages in, the text the model was trained to see out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Template
from jinja2.exceptions import TemplateError as JinjaError

from pinfill_service.prompt.sandbox import RenderLimits, SandboxEnvironment, variables

MAX_TEMPLATE_CHARACTERS = 1 << 18

# For base models, which have no template: a plain transcript, which any text model can continue.
FALLBACK_TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}"
    "{{ '\\n\\n' if not loop.last or add_generation_prompt }}{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)

Message = Mapping[str, Any]


class TemplateError(Exception):
    """The chat template is broken, refused the messages or asked for too much; the message is one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class ChatTemplate:
    """A compiled template with the special tokens it may name. Rendering is thread-safe. Compared by identity."""

    template: Template
    tool_template: Template
    special_tokens: Mapping[str, str]
    limits: RenderLimits = field(default_factory=RenderLimits)

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        continue_final_message: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> str:
        """The prompt's text. It ends where the assistant's answer begins or, when `continue_final_message` is set and
        the last message is the assistant's, right after that message's content.

        `options` are further variables for the template (`enable_thinking`, ...). Raises TemplateError.
        """
        continued = continue_final_message and bool(messages) and messages[-1].get("role") == "assistant"
        values = {
            **(options or {}),
            **self.special_tokens,
            "messages": list(messages),
            "tools": list(tools) or None,
            "documents": None,
            "add_generation_prompt": not continued,
        }
        text = self._render(self.tool_template if tools else self.template, values)
        return _cut_after(text, str(messages[-1].get("content") or "")) if continued else text

    def _render(self, template: Template, values: Mapping[str, Any]) -> str:
        parts: list[str] = []
        length = 0
        try:
            for part in template.generate(variables(values, self.limits)):
                length += len(part)
                if length > self.limits.characters:
                    raise TemplateError("The chat template makes too much text.")
                parts.append(part)
        except TemplateError:
            raise
        except Exception as error:  # a template can raise whatever Python can: it is foreign code
            raise TemplateError(f"The chat template failed: {_sentence(error)}") from error
        return "".join(parts)


def compile_template(
    source: str,
    special_tokens: Mapping[str, str],
    *,
    tool_source: str | None = None,
    limits: RenderLimits | None = None,
) -> ChatTemplate:
    """A template from its source; `tool_source` is used instead when there are tools. Raises TemplateError."""
    environment = SandboxEnvironment()
    environment.globals |= {"raise_exception": _raise_exception, "strftime_now": _strftime_now}
    sources = (source, tool_source if tool_source is not None else source)
    try:
        if max(map(len, sources)) > MAX_TEMPLATE_CHARACTERS:
            raise TemplateError("The chat template is too large.")
        main, tool = (environment.from_string(each) for each in sources)
    except TemplateError:
        raise
    except Exception as error:
        raise TemplateError(f"The chat template cannot be read: {_sentence(error)}") from error
    return ChatTemplate(main, tool, dict(special_tokens), limits or RenderLimits())


def load_template(folder: Path) -> ChatTemplate:
    """The template of a model folder: `chat_template.jinja`, else `chat_template` in `tokenizer_config.json` (a string,
    or a list of named ones of which "default" and "tool_use" count), else FALLBACK_TEMPLATE. Raises TemplateError.
    """
    config = read_json(folder / "tokenizer_config.json")
    tokens = special_tokens(folder)
    file = folder / "chat_template.jinja"
    if file.is_file():
        return compile_template(file.read_text(encoding="utf-8"), tokens)
    stored = config.get("chat_template")
    if isinstance(stored, str):
        return compile_template(stored, tokens)
    if isinstance(stored, list):
        named = {str(item.get("name")): str(item.get("template")) for item in stored if isinstance(item, dict)}
        if "default" in named:
            return compile_template(named["default"], tokens, tool_source=named.get("tool_use"))
    return compile_template(FALLBACK_TEMPLATE, tokens)


def special_tokens(folder: Path) -> dict[str, str]:
    """`bos_token`, `eos_token` and the like, as the tokenizer's configuration names them."""
    named = read_json(folder / "special_tokens_map.json") | read_json(folder / "tokenizer_config.json")
    found: dict[str, str] = {}
    for name in ("bos_token", "eos_token", "unk_token", "pad_token"):
        value = named.get(name)
        content = value.get("content") if isinstance(value, dict) else value
        if isinstance(content, str):
            found[name] = content
    return found


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file; empty when there is no such file or it holds something else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _cut_after(text: str, content: str) -> str:
    """`text` up to the end of the last message's content, so that the model goes on writing that message."""
    content = content.strip()
    at = text.rfind(content)
    if at < 0:
        raise TemplateError("The chat template changes the last message, so it cannot be continued.")
    return text[: at + len(content)]


def _sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    words = lines[0] if lines else type(error).__name__
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _raise_exception(message: str) -> None:
    raise JinjaError(message)


def _strftime_now(format: str) -> str:
    return datetime.now().strftime(format)
