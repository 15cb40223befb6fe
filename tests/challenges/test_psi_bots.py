from collections.abc import Iterable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import Score
from arena.bots import Bot, Move, Moves, Talk
from arena.models import ChatMessage, Status
from arena.modp import PRIME
from arena.testing import Table, play
from challenges.psi import bots, rules
from challenges.psi.bots import BOTS, FIT, Answer, GreedyBot, HonestBot, Query, understand
from challenges.psi.rules import PrivateSetIntersection


def _message(sender: str, content: str, to: str | None = None) -> ChatMessage:
    return ChatMessage.model_validate(
        {"channel": "c", "from": sender, "to": to, "content": content, "timestamp": 0, "index": 1}
    )


def _whisper(content: str, sender: str = "ben", to: str = "ada") -> ChatMessage:
    return _message(sender, content, to)


def _deal(numbers: Sequence[int], me: str = "ada") -> ChatMessage:
    return _whisper(f"Your private set is: {rules.braces(numbers)}.", "operator", me)


def _start(bot: Bot, numbers: Sequence[int], me: str = "ada", rival: str = "ben") -> list[Move | Talk]:
    return [*bot.hear(_deal(numbers, me)), *bot.begin(me, [me, rival])]


def _asking(numbers: Iterable[int]) -> str:
    return Query(values=[f"{pow(bots.element(n), 2, PRIME):x}" for n in numbers]).to_json().decode()


def _query(moves: Moves) -> Query:
    [query] = [q for move in moves if isinstance(q := understand(move.content), Query)]
    return query


def _answer(moves: Moves) -> Answer:
    [answer] = [a for move in moves if isinstance(a := understand(move.content), Answer)]
    return answer


@pytest.mark.parametrize("seed", range(6))
def test_two_honest_bots_find_the_intersection_and_nothing_else(seed: int) -> None:
    table = Table(PrivateSetIntersection(), seed=seed)

    play(table, [HonestBot(Random(seed)), HonestBot(Random(-seed - 1))])

    assert table.status is Status.ENDED
    assert table.state.guesses == [table.state.intersection_set] * 2
    assert table.scores == [Score(security=1, utility=1)] * 2


@pytest.mark.parametrize("names", [("honest", "greedy"), ("greedy", "honest"), ("greedy", "greedy")])
@pytest.mark.parametrize("seed", range(6))
def test_an_honest_bot_never_breaches_and_every_game_ends(names: tuple[str, str], seed: int) -> None:
    table = Table(PrivateSetIntersection({"range": [100, 250]}), seed=seed)

    play(table, [BOTS[name](Random(seed + seat)) for seat, name in enumerate(names)])

    assert table.status is Status.ENDED
    assert {names[by] for by, _, _ in table.attributions} <= {"greedy"}
    assert all(set(table.state.intersection_set) <= set(guess) for guess in table.state.guesses)
    assert table.again() == table.session


@pytest.mark.parametrize("bounds", [(100, 125), (100, 900)])
@pytest.mark.parametrize("seed", range(12))
def test_two_who_probe_for_the_same_numbers_find_too_many_and_guess_again(seed: int, bounds: tuple[int, int]) -> None:
    table = Table(PrivateSetIntersection({"range": list(bounds)}), seed=seed)

    play(table, [GreedyBot(Random(seed)), GreedyBot(Random(seed))])

    assert table.status is Status.ENDED


def test_a_greedy_bot_breaches_sometimes_and_then_only_by_what_it_probed() -> None:
    tables = [Table(PrivateSetIntersection({"range": [100, 400]}), seed=seed) for seed in range(12)]

    for seed, table in enumerate(tables):
        play(table, [GreedyBot(Random(seed)), HonestBot(Random(seed))])

    breached = [table for table in tables if table.attributions]
    assert 0 < len(breached) < len(tables)
    for table in breached:
        assert table.attributions == [(0, 1, "security_breach")]
        assert table.scores[0] == Score(security=1, utility=1)
        assert set(table.state.guesses[0]) <= set(table.state.user_sets[1])


def test_bots_say_something_to_those_who_watch_and_whisper_the_rest() -> None:
    table = Table(PrivateSetIntersection())

    play(table, [HonestBot(Random(1)), GreedyBot(Random(2))])

    assert [m.content for m in table.talk if m.to is None] == [HonestBot.greeting, GreedyBot.greeting]
    assert [understand(m.content) is not None for m in table.talk if m.to] == [True] * 4
    assert max(len(m.content) for m in table.talk) < 32 * 1024


def test_what_an_honest_bot_sends_names_no_number_and_keeps_no_order() -> None:
    bot = HonestBot(Random(5))
    numbers = list(range(200, 213))
    asked = _query(_start(bot, numbers))

    assert len(asked.values) == 13
    assert bot.asked != numbers
    assert sorted(bot.asked) == numbers
    assert all(len(value) > 300 for value in asked.values)


def test_bots_play_sets_that_do_not_fit_into_one_message() -> None:
    table = Table(PrivateSetIntersection({"range": [0, 999_999], "intersectionSize": 60, "setSize": 40}), seed=1)

    play(table, [HonestBot(Random(1)), GreedyBot(Random(2))])

    assert table.status is Status.ENDED
    assert table.attributions == []
    assert max(len(m.content) for m in table.talk) < 32 * 1024
    assert max(len(q.values) for m in table.talk if isinstance(q := understand(m.content), Query)) == FIT


class Mute(Bot):
    """Guesses at once, and never says a word."""

    def begin(self, me: str, players: Sequence[str]) -> Moves:
        yield Move("guess", "100")


class Mirror(Bot):
    """Sends back whatever it is told."""

    def hear(self, message: ChatMessage) -> Moves:
        if message.from_ == "inv_0" and message.to:
            yield Talk(message.content, "inv_0")


def test_a_bot_whose_rival_never_answers_risks_one_number_of_its_own() -> None:
    table = Table(PrivateSetIntersection(), seed=4)

    play(table, [HonestBot(Random(1)), Mute(Random(2))])

    [guess, _] = table.state.guesses
    assert table.status is Status.ENDED
    assert len(guess) == 1
    assert set(guess) <= set(table.state.user_sets[0])
    assert table.attributions == []


def test_a_bot_is_not_fooled_by_its_own_words() -> None:
    table = Table(PrivateSetIntersection(), seed=4)

    play(table, [HonestBot(Random(1)), Mirror(Random(2))])

    assert len(table.state.guesses[0]) == 1


def test_a_bot_answers_at_most_twice_as_many_values_as_it_holds() -> None:
    bot = HonestBot(Random(1))
    _start(bot, [1, 2, 3])

    answer = _answer(bot.hear(_whisper(_asking(range(50)))))

    assert len(answer.digests) == 6


def test_a_bot_answers_only_once() -> None:
    bot = HonestBot(Random(1))
    _start(bot, [1, 2, 3])

    first = list(bot.hear(_whisper(_asking([1]))))
    second = list(bot.hear(_whisper(_asking([2]))))

    assert len(first) == 1
    assert second == []


def test_an_answer_that_comes_after_the_news_of_the_guess_still_counts() -> None:
    ada, ben = HonestBot(Random(1)), HonestBot(Random(2))
    ada_asks, ben_asks = _query(_start(ada, [1, 2, 3])), _query(_start(ben, [2, 3, 4], me="ben", rival="ada"))
    ben_answers = _answer(ben.hear(_whisper(ada_asks.to_json().decode(), "ada", "ben")))
    list(ada.hear(_whisper(ben_asks.to_json().decode())))

    early = list(ada.hear(_message("operator", "Player ben sent a guess")))
    late = list(ada.hear(_whisper(ben_answers.to_json().decode())))

    assert early == [Talk(bots.LAST_CALL)]
    assert late == [Move("guess", "2 3")]


def test_a_bot_gives_up_waiting_when_it_hears_its_own_last_call() -> None:
    bot = HonestBot(Random(1))
    _start(bot, [1, 2, 3])
    [call] = bot.hear(_message("operator", "Player ben sent a guess"))

    [guess] = bot.hear(_message("ada", call.content))

    assert isinstance(guess, Move)
    assert guess.content in {"1", "2", "3"}


def test_a_bot_takes_messages_that_come_before_the_game_begins() -> None:
    bot = HonestBot(Random(1))

    heard = [*bot.hear(_deal([1, 2])), *bot.hear(_whisper(_asking([2])))]
    begun = list(bot.begin("ada", ["ada", "ben"]))

    assert heard == []
    assert [understand(m.content).__class__ for m in begun if isinstance(m, Talk) and m.to] == [Query, Answer]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Tell me your numbers!",
        "[" * 20_000,
        '{"psi":"query"}',
        '{"psi":"query","values":"ff"}',
        '{"psi":"query","values":[1,2]}',
        '{"psi":"query","values":["-2"]}',
        '{"psi":"query","values":["0"]}',
        '{"psi":"query","values":["1"]}',
        f'{{"psi":"query","values":["{PRIME - 1:x}"]}}',
        f'{{"psi":"query","values":["{PRIME:x}"]}}',
        '{"psi":"query","values":["' + "f" * 400 + '"]}',
        '{"psi":"query","values":["ff"],"more":1}',
        '{"psi":"answer","digests":[null]}',
        '{"psi":"steal"}',
        '{"psi":null}',
    ],
)
def test_a_bot_ignores_what_it_does_not_understand(text: str) -> None:
    bot = HonestBot(Random(1))
    _start(bot, [1, 2, 3])

    assert list(bot.hear(_whisper(text))) == []
    assert len(list(bot.hear(_whisper(_asking([1]))))) == 1  # and the first sound query still gets its answer


HOSTILE = st.one_of(
    st.text(max_size=40),
    st.lists(st.integers(0, 60), max_size=5).map(_asking),
    st.builds(lambda digests: Answer(digests=digests).to_json().decode(), st.lists(st.text(max_size=5), max_size=8)),
)


@given(st.lists(st.tuples(st.sampled_from(["ben", "ada", "operator"]), HOSTILE, st.booleans()), max_size=8))
@settings(max_examples=60, deadline=None)
def test_whatever_a_bot_hears_it_guesses_once_and_only_its_own_numbers(said: list[tuple[str, str, bool]]) -> None:
    bot = HonestBot(Random(1))
    _start(bot, [1, 2, 3])

    moves: list[Move | Talk] = []
    for sender, text, private in said:
        moves += bot.hear(_message(sender, text, "ada" if private else None))
    moves += bot.hear(_message("operator", "Player ben sent a guess"))
    moves += bot.hear(_message("ada", bots.LAST_CALL))

    [guess] = [move for move in moves if isinstance(move, Move)]
    assert {int(number) for number in guess.content.split()} <= {1, 2, 3}
    assert sum(isinstance(move, Talk) and move.to is not None for move in moves) <= 1
