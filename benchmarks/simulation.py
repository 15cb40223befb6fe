"""`python -m benchmarks.simulation`: how fast games are simulated on one core, and what bounds it; in CPU time."""

import time
from collections.abc import Callable
from random import Random

import typer
from rich.console import Console
from rich.table import Table

from arena.bots import Bot, Move, Moves
from arena.match import Match, play
from arena.session import rng_of
from arena.simulation import Setting, play_batch

AIM = 20_000  # games per second and core
ROUNDS = 5  # of which the best counts: others may be at work on this machine


class Blunt(Bot):
    """Guesses without a word."""

    def begin(self, me: str, players: object) -> Moves:
        """At once."""
        yield Move("guess", "120 345 678")


def main(games: int = 1_000) -> None:
    """Measure whole games of psi, and their parts."""
    setting = Setting("psi", ("honest", "greedy"), "7", {})
    operator = setting.operator()

    def blunt() -> None:
        for number in range(games):
            match = Match(operator, f"7.{number}")
            play(match, [Blunt(Random(1)), Blunt(Random(2))])

    def seated() -> None:
        for number in range(games):
            Match(operator, f"7.{number}")

    def dealt() -> None:
        for number in range(games):
            operator.deal(rng_of("00" * 32, f"7.{number}", 0))

    rows = Table("what", "per CPU second", f"of {AIM:,}")
    for words, work in (
        ("games of the house bots, which compare blinded sets", lambda: play_batch(setting, range(games))),
        ("games of bots that only guess", blunt),
        ("games that are dealt, with both seats told", seated),
        ("deals alone", dealt),
    ):
        rate = games / min(_cost(work) for _ in range(ROUNDS))
        rows.add_row(words, f"{rate:,.0f}", f"{rate / AIM:.0%}")
    Console().print(rows)


def _cost(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    typer.run(main)
