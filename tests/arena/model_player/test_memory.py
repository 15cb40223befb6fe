"""Memory: questions stay within their budget, and the rules and private data stay in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.talk import Message, Tokens, ToolCall
from arena.model_player.memory import Memory, TooSmall
from arena.model_player.tools import Toolbox

RULES = [Message("system", "You play."), Message("user", "The rules are these.")]
PRIVATE = Message("user", "Your secret is 4711.")
TOOLS = Toolbox([]).tools
BUDGET = 8_000


def memory_of(budget: int = BUDGET) -> Memory:
    return Memory(budget, RULES, PRIVATE, TOOLS)


def count(messages: list[Message], each: float) -> int:
    """What a provider whose tokens have so many bytes would count."""
    return int(sum(len(f"{message.text}{message.calls}".encode()) for message in messages) / each) + 200


@given(
    texts=st.lists(st.tuples(st.integers(0, 900), st.integers(0, 400), st.integers(0, 390)), max_size=30),
    each=st.floats(1.2, 6),
    tells=st.booleans(),
)
def test_no_question_is_larger_than_the_budget(texts: list[tuple[int, int, int]], each: float, tells: bool) -> None:
    memory = memory_of()

    for said, result, news in texts:
        messages, most = memory.question()
        counted = count(messages, each)
        memory.measured(Tokens(counted) if tells else Tokens())
        call = ToolCall("1", "chat", {"text": "x" * said})
        answer = Message("assistant", "", (call,))
        memory.answered(answer, 0, [Message("tool", "y" * result, call_id="1")], [f"you: {said}"])
        memory.tell("é" * news, [f"operator to you: {news}"])

        assert most + memory.answer_room <= BUDGET
        assert counted + memory.answer_room <= BUDGET
        assert messages[:3] == [*RULES, PRIVATE]


def test_what_is_left_out_is_remembered_in_short_lines() -> None:
    memory = memory_of()
    for number in range(40):
        answer = Message("assistant", f"thought {number} " + "z" * 500)
        memory.answered(answer, 0, [], [f"you: guess {number}"])
        memory.tell("news " * 50, [f"operator to you: wrong {number}"])

    messages, _ = memory.question()

    assert messages[2] == PRIVATE
    digest, told = messages[3].text, "".join(message.text for message in messages[4:])
    oldest = next(number for number in range(40) if f"thought {number} " in told)
    assert oldest > 20
    assert f"you: guess {oldest - 1}\noperator to you: wrong {oldest - 1}" in digest
    assert messages[4].role == "assistant"


def test_what_was_measured_counts_as_measured() -> None:
    memory = memory_of()
    memory.tell("n" * 700)
    _, before = memory.question()

    memory.measured(Tokens(400))

    assert before > 1000
    assert memory.question()[1] in range(400, 404)


def test_a_provider_that_counts_more_than_we_thought_possible_is_believed() -> None:
    memory = memory_of()
    _, before = memory.question()
    memory.measured(Tokens(before * 2))

    memory.tell("n" * 100)

    assert memory.question()[1] >= before * 2 + 200


def test_a_budget_too_small_for_the_rules_is_refused() -> None:
    with pytest.raises(TooSmall, match="need a context of"):
        memory_of(2_000)


def test_news_that_do_not_fit_are_not_sent() -> None:
    memory = memory_of()
    memory.tell("n" * BUDGET)

    with pytest.raises(TooSmall, match="does not hold"):
        memory.question()
