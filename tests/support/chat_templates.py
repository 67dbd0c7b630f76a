"""Chat templates in the manner of model families: small, but with their wrappers, their refusals and their quirks."""

from __future__ import annotations

_CHATML_TURN = "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
_CHATML_END = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"

_TOOLS_IN_SYSTEM = """
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}

{% endif %}# Tools

You may call functions. Their signatures are within <tools></tools>:
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools><|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif -%}
{%- for m in messages %}
{%- if m.role == 'tool' -%}
{% if loop.first or messages[loop.index0 - 1].role != 'tool' %}<|im_start|>user{% endif %}
<tool_response>
{{ m.content }}
</tool_response>
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}<|im_end|>
{% endif %}
{%- elif m.role == 'assistant' -%}
<|im_start|>assistant
CALLS<|im_end|>
{% elif not loop.first or m.role != 'system' -%}
<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

HERMES = _TOOLS_IN_SYSTEM.replace(
    "CALLS",
    """{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '\n' if m.content or not loop.first }}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>
{%- endfor %}""",
)

QWEN_CODER = _TOOLS_IN_SYSTEM.replace(
    "CALLS",
    """{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '\n' if m.content or not loop.first }}<tool_call>
<function={{ c.function.name }}>
{% for key, value in c.function.arguments.items() -%}
<parameter={{ key }}>
{{ value if value is string else value | tojson }}
</parameter>
{% endfor -%}
</function>
</tool_call>
{%- endfor %}""",
)

# Reasoning: earlier thoughts are dropped, and the next answer begins inside a block of them.
THINKING = HERMES.replace("<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think>\n{% endif %}")

# One call a message; tools stand in the first user message.
LLAMA = """{{ bos_token }}
{%- if messages[0].role == 'system' %}
{%- set system = messages[0].content %}{% set messages = messages[1:] %}
{%- else %}{% set system = '' %}{% endif %}
<|start_header_id|>system<|end_header_id|>

{{ system }}<|eot_id|>
{%- if tools %}
{%- set first = messages[0].content %}{% set messages = messages[1:] -%}
<|start_header_id|>user<|end_header_id|>

Answer with a JSON for a function call: {"name": function name, "parameters": dictionary of arguments}.

{% for tool in tools %}{{ tool | tojson(indent=4) }}

{% endfor %}{{ first }}<|eot_id|>
{%- endif %}
{%- for m in messages %}
{%- if m.role in ['tool', 'ipython'] -%}
<|start_header_id|>ipython<|end_header_id|>

{{ m.content | tojson if m.content is mapping else m.content }}<|eot_id|>
{%- elif 'tool_calls' in m %}
{%- if m.tool_calls | length != 1 %}{{ raise_exception('One tool call at once!') }}{% endif %}
{%- set call = m.tool_calls[0].function -%}
<|start_header_id|>assistant<|end_header_id|>

{{ '{"name": "' + call.name + '", "parameters": ' }}{{ call.arguments | tojson }}}<|eot_id|>
{%- else -%}
<|start_header_id|>{{ m.role }}<|end_header_id|>

{{ m.content | trim }}<|eot_id|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>

{% endif %}"""

# Ids of nine letters and digits; tools stand in front of the last user message.
MISTRAL = """{{ bos_token }}
{%- for m in messages %}
{%- if m.role == 'user' %}
{%- if tools and (messages[loop.index0 + 1:] | selectattr('role', 'equalto', 'user') | list | length) == 0 -%}
[AVAILABLE_TOOLS] {{ tools | tojson }}[/AVAILABLE_TOOLS]
{%- endif -%}
[INST] {{ m.content }}[/INST]
{%- elif m.tool_calls -%}
[TOOL_CALLS] [
{%- for c in m.tool_calls %}
{%- if c.id | length != 9 %}{{ raise_exception('Tool call IDs should have length 9!') }}{% endif %}
{%- set function = c.function | tojson %}
{{- function[:-1] }}, "id": "{{ c.id }}"}{{ ', ' if not loop.last }}
{%- endfor -%}
]{{ eos_token }}
{%- elif m.role == 'assistant' %} {{ m.content | trim }}{{ eos_token }}
{%- elif m.role == 'tool' %}
{%- if m.tool_call_id | length != 9 %}{{ raise_exception('Tool call IDs should have length 9!') }}{% endif -%}
[TOOL_RESULTS] {"content": {{ m.content }}, "call_id": "{{ m.tool_call_id }}"}[/TOOL_RESULTS]
{%- else %}{{ raise_exception('Only user, assistant and tool roles are supported.') }}
{%- endif %}
{%- endfor %}"""

# The newer form: the name, then its arguments as text.
MISTRAL_NAMED = """{{ bos_token }}
{%- if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}
{%- for m in messages %}
{%- if m.role == 'system' %}[SYSTEM_PROMPT]{{ m.content }}[/SYSTEM_PROMPT]
{%- elif m.role == 'user' %}[INST]{{ m.content }}[/INST]
{%- elif m.role == 'assistant' %}{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '[TOOL_CALLS]' + c.function.name + '[ARGS]' + c.function.arguments }}
{%- endfor %}{{ eos_token }}
{%- else %}[TOOL_RESULTS]{{ m.content }}[/TOOL_RESULTS]
{%- endif %}
{%- endfor %}"""

# A wrapper that no other family has.
OWN_WRAPPER = """{% if tools %}<|start|>available_tools<|end|>{{ tools | tojson }}<|eot|>
{% endif %}{% for m in messages %}<|start|>{{ m.role }}<|end|>{{ m.content | string }}
{%- if m.tool_calls %}<|call|>[
{%- for c in m.tool_calls %}
{{- {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}{{ ', ' if not loop.last }}
{%- endfor -%}
]<|/call|>{% endif %}<|eot|>
{% endfor %}{% if add_generation_prompt %}<|start|>assistant<|end|>{% endif %}"""

# Knows no tools, no system messages, and wants turns to alternate.
STRICT = """{{ bos_token }}
{%- for m in messages %}
{%- if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif -%}
<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}
{{ m.content | trim }}<end_of_turn>
{% endfor %}
{%- if add_generation_prompt %}<start_of_turn>model
{% endif %}"""

CHATML = "{% for m in messages %}" + _CHATML_TURN + "{% endfor %}" + _CHATML_END

TEMPLATES = {
    "hermes": HERMES,
    "qwen-coder": QWEN_CODER,
    "thinking": THINKING,
    "llama": LLAMA,
    "mistral": MISTRAL,
    "mistral-named": MISTRAL_NAMED,
    "own-wrapper": OWN_WRAPPER,
    "strict": STRICT,
    "chatml": CHATML,
}
NATIVE = ("hermes", "qwen-coder", "thinking", "llama", "mistral", "mistral-named", "own-wrapper")
