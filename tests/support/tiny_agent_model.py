"""A model that computes next to nothing, but reads what agents send: a real tokenizer, tools in its chat template and
room for 65,536 tokens.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from pinfill_service.models.gguf_import import convert_gguf
from tests.support.default_model import default_model
from tests.support.tiny_gguf import TinyLlama

CONTEXT = 65_536
VOCABULARY = 49_152

# ChatML with tools behind the system prompt, calls and results as Hermes models write them.
TEMPLATE = """\
{%- if tools -%}
<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}# Tools

You may call one or more functions. Their signatures are between <tools></tools>:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>

For each call, return its name and arguments as JSON between <tool_call></tool_call>.<|im_end|>
{% elif messages[0].role == 'system' -%}
<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif not (message.role == 'system' and loop.first) -%}
<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def write_agent_model(parent: Path) -> Path:
    """Its folder, made in `parent`."""
    folder = parent / "tiny-agent"
    folder.mkdir()
    tiny = TinyLlama(
        layers=1, hidden=32, heads=1, kv_heads=1, head_size=16, feed_forward=32, vocabulary=VOCABULARY, context=CONTEXT
    )
    convert_gguf(tiny.write(parent / "tiny-agent.gguf"), folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(default_model() / name, folder / name)
    (folder / "chat_template.jinja").write_text(TEMPLATE)  # wins over the one in the configuration
    return folder
