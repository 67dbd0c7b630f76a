"""A real engine says what it evicted: which tokens, of which salt, and when."""

from __future__ import annotations

import pytest

from pinfill_service.engine.interface import GenerationRequest
from pinfill_service.engine.sequence import namespace, salt_of
from tests.support.models import LLAMA
from tests.support.real_engine import GREEDY, LIMIT_SECONDS, Client, Reply, engine

FIRST, SECOND = [3 + i % 400 for i in range(200)], [5 + i % 300 for i in range(150)]


def ask(client: Client, prompt: list[int], salt: str) -> None:
    reply = Reply()
    client.engine.submit(GenerationRequest(prompt, 1, GREEDY, salt=salt), reply)
    reply.wait()


def taken(client: Client) -> list[tuple[str, list[int]]]:
    found = client.engine.prefixes.take_evictions().result(LIMIT_SECONDS)
    assert all(0 <= each.seconds_ago < LIMIT_SECONDS for each in found)
    return [(each.salt, list(each.token_ids)) for each in found]


@pytest.mark.parametrize("budget", [0, 64])
def test_evictions_are_told_once_with_their_salt(budget: int) -> None:
    with engine(LLAMA, slots=1, memory_budget_mib=budget) as client:
        ask(client, FIRST, "mine")
        ask(client, SECOND, "")
        told = taken(client)
        if budget:
            assert told == [], "there was room"
            (kept,) = [e for e in client.engine.prefixes.entries().result(LIMIT_SECONDS) if e.tokens == 200]
            assert client.engine.prefixes.evict(kept.id).result(LIMIT_SECONDS)
            assert taken(client) == [("mine", FIRST)]
        else:
            assert told == [("mine", FIRST), ("", SECOND)]
        assert taken(client) == []


def test_a_slot_that_is_needed_while_there_is_no_room_for_what_it_holds() -> None:
    with engine(LLAMA, slots=1, memory_budget_mib=64) as client:
        ask(client, FIRST, "")
        client.engine._worker.cache.budget_bytes = 200 * client.engine.model.kv_bytes_per_token
        ask(client, SECOND, "")
        assert taken(client)[0] == ("", FIRST)


def test_no_salt_makes_another_namespace() -> None:
    salts = ("", "x", "long rope\0", "salt\0x")
    spaces = {(salt, long): namespace(salt, long_rope=long) for salt in salts for long in (True, False)}
    assert len(set(spaces.values())) == len(spaces) and namespace("", long_rope=False) == ""
    assert all(salt_of(space) == salt for (salt, _), space in spaces.items())
