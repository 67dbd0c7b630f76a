"""Prompts as the doctor gets them, and what must hold of everything it says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pinfill_service.api.schemas import manage
from pinfill_service.cache.doctor import TITLES, Finding, PromptRecord, diagnose
from pinfill_service.cache.doctor.wording import SUGGESTIONS
from pinfill_service.prompt.segments import label_segments
from pinfill_service.prompt.template import ChatTemplate, compile_template
from tests.support.models import llama_text

# Tools as Hermes and Qwen write them: one JSON object a line, in the system prompt.
CHATML = (
    "{% if messages[0].role == 'system' or tools %}<|im_start|>system\n"
    "{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}"
    "{% if tools %}\n\n# Tools\n\nYou may call these functions:\n<tools>"
    "{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}\n</tools>{% endif %}<|im_end|>\n{% endif %}"
    "{% for m in messages %}{% if not (loop.first and m.role == 'system') %}"
    "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
    "<|im_start|>assistant\n{{ thinks or '' }}"
)
TEMPLATE = compile_template(CHATML, {})
OTHER_TEMPLATE = compile_template(
    "{% for m in messages %}[{{ m.role }}] {{ m.content }} [/{{ m.role }}]{% endfor %}", {}
)
RUBRIC = "You grade short answers. Give marks from 0 to 5 and name every mistake. Be strict with units and signs. " * 3
Turn = tuple[str, str]


def prompt(*turns: Turn, tools: Sequence[Mapping[str, Any]] = (), template: ChatTemplate = TEMPLATE,
           thinks: str = "", **fields: Any) -> PromptRecord:  # fmt: skip
    """A record of a rendered chat, as the service makes it."""
    model = llama_text()
    messages = [{"role": role, "content": content} for role, content in turns]
    text = template.render(messages, tools=tools, options={"thinks": thinks})
    encoded = model.tokenizer.encode_prompt_pieces(text)
    segments = label_segments(text, encoded, messages, model.stop_ids)
    return PromptRecord(encoded.ids, text=text, segments=segments, pieces=encoded.pieces, **{"id": "now", **fields})


def earlier(*turns: Turn, **fields: Any) -> PromptRecord:
    return prompt(*turns, **{"id": "before", **fields})


def shared(a: PromptRecord, b: PromptRecord) -> int:
    """The first tokens in common, counted one by one."""
    old, new = [*a.token_ids, *a.reply_ids], list(b.token_ids)
    return next((at for at, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), min(len(old), len(new)))


def compare(old: PromptRecord, new: PromptRecord) -> Finding:
    """The finding when all that both share came from the cache, checked for what holds of every finding."""
    found = diagnose(new, min(shared(old, new), len(old.token_ids)), [old])
    check(found)
    if found.kind not in ("served", "never_seen"):
        assert found.position_tokens == shared(old, new) and found.compared_with == old.id
    return found


def check(found: Finding) -> None:
    """It can be sent and shown, and says something."""
    assert json.dumps(asdict(found), ensure_ascii=False).encode()
    assert manage.Finding(**asdict(found)).model_dump_json()
    assert found.explanation.endswith(".") and found.suggestion.endswith(".")
    assert found.kind in TITLES and found.kind in SUGGESTIONS
    assert max(len(found.before), len(found.after)) < 220


def tool(name: str, description: str = "Does what it says.") -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = [tool("read"), tool("write"), tool("search")]
SYSTEM, QUESTION = ("system", RUBRIC), ("user", "The river is 40 km long.")
LONG = ("user", "Tell me how long the river is, and how you know that, in two sentences.")
ANSWER = ("assistant", "It is 40 km long. I know that from the table on the second page of the report.")
HEADER = "x-anthropic-billing-header: cc_version=2.1.332.{}; cc_entrypoint=sdk-cli;"
