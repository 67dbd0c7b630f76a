"""One conversation by every API on a real engine: the same tokens, so what one evaluated the others reuse."""

from __future__ import annotations

from typing import Any

from pinfill_service.application import close, create_app
from pinfill_service.engine.loading import load_engine
from tests.support.client import client_for, settings
from tests.support.models import LLAMA, llama_text

SYSTEM, USER = "Be kind.", "How are you today?"
MESSAGES = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
OLLAMA: dict[str, Any] = {"options": {"num_predict": 4, "temperature": 0}, "stream": False}


async def test_what_one_api_evaluated_the_others_reuse() -> None:
    chosen = settings(slots=2, disk_budget_mib=0)
    app = create_app(chosen, load_engine(LLAMA, LLAMA.name, chosen), llama_text())
    chat = {"messages": MESSAGES, "max_tokens": 4, "temperature": 0}
    requests = [
        ("/v1/chat/completions", chat),
        ("/v1/responses", {"instructions": SYSTEM, "input": USER, "max_output_tokens": 4, "temperature": 0}),
        ("/api/chat", {"messages": MESSAGES, **OLLAMA}),
        ("/api/generate", {"system": SYSTEM, "prompt": USER, **OLLAMA}),
        ("/v1/chat/completions", chat),
    ]
    try:
        async with client_for(app) as client:
            answers = [(await client.post(path, json=body)).raise_for_status().json() for path, body in requests]
    finally:
        close(app.state.application)
    first, responses, ollama, generated, again = answers
    cached = again["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert first["usage"]["prompt_tokens_details"]["cached_tokens"] == 0 < cached
    text, prompt = first["choices"][0]["message"]["content"], first["usage"]["prompt_tokens"]
    usage = responses["usage"]
    assert (usage["input_tokens"], usage["input_tokens_details"]["cached_tokens"]) == (prompt, cached)
    assert responses["output"][0]["content"][0]["text"] == text
    for answer in (ollama, generated):
        assert (answer["prompt_eval_count"], answer["prompt_cached_count"]) == (prompt, cached)
    assert ollama["message"]["content"] == generated["response"] == text
