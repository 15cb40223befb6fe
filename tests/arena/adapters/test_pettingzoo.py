"""Challenges as PettingZoo environments: its own test of the interface, and what learners rely on."""

import warnings
from typing import Any

import pytest
from pettingzoo.test import api_test, seed_test

from arena.adapters.pettingzoo import ArenaEnv, Mix, env
from arena.errors import Invalid
from tests.plugins.tally import Tally


@pytest.mark.parametrize(
    ("name", "options"),
    [("psi", {}), ("ultimatum", {}), ("dining-cryptographers", {"players": 4}), ("ultimatum", {"players": 3})],
    ids=str,
)
def test_a_challenge_passes_the_test_of_the_interface(name: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of observations that are no arrays: ours are texts

        api_test(env(name, options, max_steps=60), num_cycles=40)
        seed_test(lambda: env(name, options, max_steps=60), num_cycles=10)


def play(game: ArenaEnv, *moves: tuple[str, str]) -> dict[str, float]:
    """Make these moves, one agent after the other; what each was given for them all."""
    given = dict.fromkeys(game.agents, 0.0)
    for move, content in moves:
        game.step(game.action(move, content))
        given = {name: given[name] + reward for name, reward in game.rewards.items()}
    return given


def test_rewards_are_the_chosen_mix_of_utility_and_security_and_infos_have_both() -> None:
    results = []
    for mix in (Mix(), Mix(utility=2, security=0)):
        game = env("psi", {"setSize": 3}, mix=mix)
        game.reset(seed=4)
        shared = " ".join(map(str, sorted(set.intersection(*map(set, game.table.state.user_sets)))))
        given = play(game, ("guess", shared), ("guess", shared))
        results.append((given, [game.infos[name] for name in game.agents]))

    (both, infos), (doubled, same) = results
    assert infos == same
    assert [info["utility"] + info["security"] for info in infos] == list(both.values())
    assert [2 * info["utility"] for info in infos] == list(doubled.values())
    assert any(both.values())


def test_an_agent_reads_what_its_seat_may_read_in_order_and_no_more() -> None:
    game = env("psi", {"setSize": 3})
    game.reset(seed=4)
    game.step(game.action("chat", "for you alone", to=1))
    game.step(game.action("chat", "for all"))

    texts = [game.observe(name)["text"] for name in game.agents]

    assert all(text.startswith(game.prompt) for text in texts)
    assert all(text.index("player_0 to player_1: for you alone") < text.index("player_1: for all") for text in texts)
    private = [game.table.told(seat)[0] for seat in (0, 1)]
    assert [[words in text for words in private] for text in texts] == [[True, False], [False, True]]


def test_a_refused_move_is_told_and_costs_a_step() -> None:
    game = env("ultimatum", max_steps=2)
    game.reset(seed=1)
    game.step(game.action("accept"))

    assert game.infos["player_0"]["refused"]
    assert game.agent_selection == "player_0"  # the game still waits for it
    game.step(game.action("wait"))
    assert game.truncations == {"player_0": True, "player_1": True}
    assert not any(game.terminations.values())


def test_a_clock_that_runs_out_truncates_and_an_end_by_the_rules_terminates() -> None:
    late = env("psi", {"clock": {"move": 10}}, seconds_per_step=11)
    late.reset(seed=1)
    late.step(late.action("wait"))
    done = env("psi")
    done.reset(seed=1)
    play(done, ("guess", "1"), ("guess", "2"))

    assert set(late.truncations.values()) == {True}
    assert "timeout" in {late.infos[name]["outcome"] for name in late.agents}
    assert set(done.terminations.values()) == {True}
    assert set(done.truncations.values()) == {False}


def test_rules_themselves_are_an_environment_with_their_jobs_done_at_once() -> None:
    game = env(Tally())
    game.reset(seed=0)
    play(game, ("order", '{"kind":"double","payload":4}'), ("stop", ""))

    assert game.rewards == {"player_0": 8.0, "player_1": 8.0}


def test_the_same_seed_deals_the_same_and_games_without_one_follow_from_it() -> None:
    game = env("psi")
    dealt = []
    for seed in (5, None, None, 5, None, None):
        game.reset(seed=seed)
        dealt.append(game.table.session.game)

    assert dealt[:3] == dealt[3:]
    assert len(set(dealt)) == 3


def test_what_is_no_action_is_refused_in_words() -> None:
    game = env("psi")
    with pytest.raises(Invalid, match="must be reset"):
        game.observe("player_0")
    game.reset()

    for action in ({}, {"move": 99, "content": "", "to": 0}, {"move": 0, "content": 7, "to": 0}):
        with pytest.raises(Invalid, match="the moves are guess, chat, wait"):
            game.step(action)
