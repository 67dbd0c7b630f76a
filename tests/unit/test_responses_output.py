"""Whatever an answer is made of, its events tell exactly its items."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from pinfill_service.api.responses_output import OutputWriter
from pinfill_service.api.responses_tools import offered_tools
from pinfill_service.prompt.reply import CallArguments, CallBegins, CallEnds, Part, Reasoning, Reply, Words
from tests.support.responses_events import named_events, told_items

TOOLS = offered_tools([{"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "read"}]}])
TEXT = st.text('ab \n"\\🎉\u2028', min_size=1, max_size=6)


def call(index: int, name: str, arguments: list[str], ended: bool) -> Iterator[Part]:
    yield CallBegins(index, f"call_{index}", name)
    yield from (CallArguments(index, piece) for piece in arguments)
    if ended:
        yield CallEnds(index)


@st.composite
def answers(draw: st.DrawFn) -> list[Part]:
    """Parts in any order, the last call perhaps cut short."""
    parts: list[Part] = []
    count = draw(st.integers(0, 6))
    for number in range(count):
        kind = draw(st.sampled_from([Words, Reasoning, None]))
        if kind is not None:
            parts += [kind(text) for text in draw(st.lists(TEXT, min_size=1, max_size=3))]
            continue
        index = sum(isinstance(part, CallBegins) for part in parts)
        ended = number < count - 1 or draw(st.booleans())
        parts += call(index, draw(st.sampled_from(["read", "other"])), draw(st.lists(TEXT, max_size=3)), ended)
    return parts


@given(answers(), st.booleans(), st.sampled_from(["completed", "incomplete"]))
def test_events_tell_the_items(parts: list[Part], summary: bool, status: str) -> None:
    writer, reply = OutputWriter(TOOLS, summary=summary), Reply()
    written = b"".join(writer.write([part]) for part in parts) + writer.close(status)  # type: ignore[arg-type]
    reply.add(parts)
    events = named_events(written.decode())
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert told_items(events) == writer.items and writer.items
    texts = {"message": reply.words, "reasoning": reply.reasoning}
    for kind, text in texts.items():
        found = [item for item in writer.items if item["type"] == kind]
        field = "summary" if summary and kind == "reasoning" else "content"
        assert "".join(item[field][0]["text"] for item in found) == text
    calls = [item for item in writer.items if item["type"] == "function_call"]
    assert [(item["call_id"], item["name"], item.get("namespace")) for item in calls] == [
        (each.id, each.name, "files" if each.name == "read" else None) for each in reply.calls
    ]
    assert [item["status"] == "completed" for item in calls] == [each.ended for each in reply.calls]
