"""Chat templates: rendered as models were trained on them, and harmless whoever wrote them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinfill_service.prompt.sandbox import BUDGET_KEY, RenderLimits
from pinfill_service.prompt.template import TemplateError, compile_template, load_template
from tests.support.models import LLAMA, MODELS, llama_text

USER = {"role": "user", "content": "hello"}
SMALL = RenderLimits(steps=20_000, characters=100_000)


def render(source: str, *messages: dict[str, object], **options: object) -> str:
    template = compile_template(source, {"bos_token": "<s>", "eos_token": "</s>"}, limits=SMALL)
    return template.render(messages or (USER,), **options)  # type: ignore[arg-type]


def test_model_folder_renders_the_reference_prompt() -> None:
    reference = json.loads((MODELS / "reference.json").read_text())["oga-llama-fp32"]
    text = load_template(LLAMA).render([{"role": "system", "content": "Rate the text."}, USER])
    assert llama_text().tokenizer.encode(text) == reference["chat_prompt_ids"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ bos_token }}{{ eos_token }}", "<s></s>"),
        ("{% if true %}\n  yes\n{% endif %}\nend", "  yes\nend"),  # trim_blocks
        ("a\n    {% if true %}b{% endif %}", "a\nb"),  # lstrip_blocks
        ("{{ {'a': '<é>'} | tojson }}", '{"a": "<é>"}'),
        ("{{ {'b': 1, 'a': [2]} | tojson(indent=2) }}", '{\n  "b": 1,\n  "a": [\n    2\n  ]\n}'),
        ("{% generation %}x{% set y = 1 %}{% endgeneration %}{{ y is defined }}", "xFalse"),
        ("{% for m in [1, 2, 3] %}{% if m == 2 %}{% continue %}{% endif %}{{ m }}{% endfor %}", "13"),
        ("{% for m in messages %}{{ loop.length }}{{ loop.last }}{{ loop.index0 }}{% endfor %}", "1True0"),
        ("{% for m in [] %}x{% else %}none{% endfor %}", "none"),
        ("{{ add_generation_prompt }} {{ tools is none }} {{ documents is none }}", "True True True"),
        ("{{ 'a' ~ 1 ~ 'b' }}{{ 'c' + 'd' }}{{ '-' * 3 }}{{ '%s!' % 'e' }}{{ '{:>3}'.format('f') }}", "a1bcd---e!  f"),
        ("{{ ['x', 'y'] | join(', ') }}{{ messages | map(attribute='role') | join('|') }}", "x, yuser"),
        ("{{ 'a-b'.split('-')[1].strip().replace('b', 'cc') }}{{ 'ab' | replace('a', 'x') }}", "ccxb"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(messages[0]['content']) }}", "<hello>"),
        ("{% set ns = namespace(n=0) %}{% for i in range(5) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}", "10"),
        ("{{ strftime_now('%Y') | int > 2000 }}", "True"),
        ("{{ missing.get }}|{{ messages[0].missing }}|", "||"),
    ],
)
def test_renders_as_transformers_does(source: str, expected: str) -> None:
    if "missing.get" in source:
        with pytest.raises(TemplateError):
            render(source)
        return
    assert render(source) == expected


def test_options_are_variables_but_never_the_messages() -> None:
    assert render("{{ x }}{{ messages[0].role }}", options={"x": 1, "messages": [], BUDGET_KEY: None}) == "1user"


def test_tool_template_is_used_with_tools() -> None:
    template = compile_template("plain", {}, tool_source="{{ tools[0].name }}")
    assert template.render([USER]) == "plain"
    assert template.render([USER], tools=[{"name": "look"}]) == "look"


def test_continued_message_ends_the_prompt() -> None:
    chat = load_template(LLAMA)
    answer = {"role": "assistant", "content": " It is "}
    text = chat.render([USER, answer], continue_final_message=True)
    assert text.endswith("<|im_start|>assistant\n It is")
    assert chat.render([USER, answer]).endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert chat.render([USER], continue_final_message=True).endswith("<|im_start|>assistant\n")
    with pytest.raises(TemplateError, match="cannot be continued"):
        render("nothing", USER, answer, continue_final_message=True)


HOSTILE = {
    "endless loop": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "long range": "{% for a in range(10000000) %}{% endfor %}",
    "recursive loop": "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "recursive macro": "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "branching macro": "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "much output": "{% for a in range(9999) %}{{ 'x' * 1000 }}{% endfor %}",
    "multiplied text": "{{ ('x' * 1000000000)|length }}",
    "multiplied list": "{{ ([0] * 1000000000)|length }}",
    "doubling": "{% set n = namespace(a='x') %}{% for i in range(60) %}{% set n.a = n.a ~ n.a %}{% endfor %}",
    "doubling by +": "{% set n = namespace(a='x') %}{% for i in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}",
    "doubling a list": "{% set n = namespace(a=[1]) %}{% for i in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}",
    "doubling by replace": "{% set n = namespace(a='x') %}"
    "{% for i in range(60) %}{% set n.a = n.a.replace('x', 'xx') %}{% endfor %}",
    "doubling by filter": "{% set n = namespace(a='x') %}"
    "{% for i in range(60) %}{% set n.a = n.a|replace('x', 'xx') %}{% endfor %}",
    "join": "{{ (('x' * 90000).join('y' * 90000))|length }}",
    "join filter": "{{ (('y' * 90000)|join('x' * 90000))|length }}",
    "join of many": "{{ ([['x' * 900] * 900] * 900)|map('join')|list|length }}",
    "copies by filter": "{% set n = namespace(a=()) %}"
    "{% for i in range(9999) %}{% set n.a = (n.a, ('x' * 9000)|upper) %}{% endfor %}",
    "copies by slice": "{% set b = 'x' * 90000 %}{% set n = namespace(a=()) %}"
    "{% for i in range(9999) %}{% set n.a = (n.a, b[1:]) %}{% endfor %}",
    "copies by block": "{% set b = 'x' * 90000 %}{% set c %}" + "{{ b }}" * 9999 + "{% endset %}",
    "copies of the template": "{% set c %}{% for i in range(9999) %}" + "x" * 9000 + "{% endfor %}{% endset %}",
    "mapped lists": "{{ (['x' * 9000] * 9000)|map('list')|list|length }}",
    "filler text": "{{ lipsum(n=1000000) }}",
    "its own budget": "{{ _budget.spend(-1) }}",
    "power": "{{ 2 ** 10000000000 }}",
    "stacked powers": "{{ 9 ** 9 ** 9 ** 9 ** 9 }}",
    "squaring": "{% set n = namespace(a=3) %}{% for i in range(60) %}{% set n.a = n.a * n.a %}{% endfor %}",
    "wide format": "{{ '{:1000000000}'.format(1) }}",
    "computed width": "{{ '{:{}}'.format(1, 1000000000) }}",
    "wide percent": "{{ '%1000000000d' % 1 }}",
    "starred percent": "{{ '%*d' % (1000000000, 1) }}",
    "ljust": "{{ 'x'.ljust(1000000000) }}",
    "center filter": "{{ 'x'|center(1000000000) }}",
    "indent": "{{ 'x\n'|indent(1000000000) }}",
    "json indent": "{{ [1]|tojson(indent=1000000000) }}",
    "class": "{{ ''.__class__ }}",
    "subclasses": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "item access": "{{ ''['__class__'] }}",
    "format attribute": "{{ '{0.__class__}'.format('') }}",
    "map attribute": "{{ ['']|map(attribute='__class__')|list }}",
    "globals": "{{ raise_exception.__globals__ }}",
    "mutation": "{{ messages.append(1) }}",
    "cycler": "{{ cycler.__init__.__globals__.os }}",
    "include": "{% include 'x' %}",
    "import": "{% import 'x' as x %}",
    "unknown filter": "{{ 1|nothing }}",
    "unknown tag": "{% nothing %}",
    "syntax": "{% for %}",
    "type error": "{{ 1 + 'a' }}",
    "raise": "{{ raise_exception('roles must alternate') }}",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_templates_are_refused_in_one_sentence(source: str) -> None:
    with pytest.raises(TemplateError) as refused:
        render(source)
    message = str(refused.value)
    assert message.startswith("The chat template") and message.endswith(".") and "\n" not in message


def test_messages_are_refused_in_the_words_of_the_template() -> None:
    with pytest.raises(TemplateError, match=r"roles must alternate\."):
        render("{{ raise_exception('roles must alternate') }}")


def test_time_is_bounded() -> None:
    template = compile_template("{% for m in messages %}x{% endfor %}", {}, limits=RenderLimits(seconds=-1))
    with pytest.raises(TemplateError, match="too long"):
        template.render([USER])


def test_large_templates_are_refused() -> None:
    with pytest.raises(TemplateError, match="too large"):
        compile_template("x" * (1 << 21), {})


def test_long_conversations_fit_the_limits() -> None:
    messages = [{"role": "user", "content": "word " * 200}] * 2000
    assert len(load_template(LLAMA).render(messages)) > 2_000_000


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"chat_template": "A{{ bos_token }}", "bos_token": {"content": "<s>"}}, "A<s>"),
        ({"chat_template": [{"name": "x", "template": "X"}, {"name": "default", "template": "D"}]}, "D"),
        ({"chat_template": [{"name": "x", "template": "X"}]}, "user: hello\n\nassistant:"),
        ({}, "user: hello\n\nassistant:"),
    ],
)
def test_template_of_a_folder(tmp_path: Path, config: dict[str, object], expected: str) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert load_template(tmp_path).render([USER]) == expected
    (tmp_path / "chat_template.jinja").write_text("file")
    assert load_template(tmp_path).render([USER]) == "file"


def test_folder_without_any_configuration_has_the_plain_template(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "yes"}
    assert (
        load_template(tmp_path).render([USER, answer], continue_final_message=True) == "user: hello\n\nassistant: yes"
    )
