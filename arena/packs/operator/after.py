"""After the runs: what is graded, ranked, judged, voted on and evaluated when, until every seat has its card. Pure."""

from collections.abc import Iterator
from random import Random
from typing import Any

from arena.effects import Effect, Effects, deadline, end, job, say, tell
from arena.errors import Refused
from arena.models import Score, Seat
from arena.packs import conversation
from arena.packs.operator.cards import seat_card, seat_score
from arena.packs.operator.play import Play, as_json
from arena.packs.operator.state import TIE, Ballot, Run, Summary

Found = tuple[Seat, str, Run]


def advance(play: Play) -> Effects:
    """Start whatever can be started, and end the game when nothing is left to do."""
    yield from _grade(play)
    if play.race.all_at("finished", "scored"):
        yield from _show(play)
    yield from _rank(play)
    yield from _question(play)
    yield from _evaluate(play)
    if play.race.begun and play.race.all_at("scored"):
        yield _end(play)


def _finished(play: Play) -> Iterator[Found]:
    for seat, runs in enumerate(play.race.runs):
        yield from ((seat, case, run) for case, run in runs.items() if run.stage == "finished" and not run.job)


def _grade(play: Play) -> Effects:
    """Have graders look at what a run left behind."""
    for seat, case, run in _finished(play):
        if run.graded is None:
            if not play.pack.captures or not (play.pack.is_native or run.uploads):
                run.graded = ""
                continue
            run.job = "grade"
            yield job("grade", _task(play, seat, case))


def _show(play: Play) -> Effects:
    """Fetch the outputs once nobody can make use of them, for those who watch or vote."""
    options, race = play.pack.options, play.race
    if race.polls or not (play.pack.polls or (options.show_outputs and options.players > 1)):
        return
    race.polls = "counting"
    yield job("show")


def _rank(play: Play) -> Effects:
    race = play.race
    for case in play.pack.cases if play.pack.ranks else ():
        runs = [each[case] for each in race.runs]
        if any(run.stage != "finished" or run.graded is None for run in runs):
            continue
        wanted: dict[str, Any] = {"case": case, "graded": [run.graded for run in runs]}
        if play.pack.has_judge_seat and not race.judged:
            if case not in race.ranked and race.judges:
                race.ranked[case] = ["?"]
                yield job("question", wanted)
            if race.ranked.get(case) != []:
                continue
        if case not in race.rankings:
            race.rankings[case] = ""
            yield job("rank", {**wanted, "seat_judge": play.pack.has_judge_seat, "judges": [*race.judges]})


def _question(play: Play) -> Effects:
    """Put what is to be judged to the judge at the table, as soon as one sits there."""
    if not play.pack.has_judge_seat or play.race.judged:
        return
    for seat, case, run in _finished(play):
        if not play.race.judge_called:
            play.race.judge_called = True
            yield deadline("judge", after=play.pack.options.judge_seconds)
        if run.graded is not None and run.asked is None and play.race.judges:
            run.asked, run.job = [], "question"
            yield job("question", _task(play, seat, case))


def _evaluate(play: Play) -> Effects:
    race = play.race
    for seat, case, run in _finished(play):
        judged = not play.pack.has_judge_seat or race.judged or run.asked == []
        ranked = not play.pack.ranks or bool(race.rankings.get(case))
        polled = not play.pack.polls or race.polls == "closed"
        if run.graded is None or not (judged and ranked and polled):
            continue
        run.job = "evaluate"
        wanted = {**_task(play, seat, case), "rankings": race.rankings.get(case, ""), "judges": [*race.judges]}
        yield job("evaluate", {**wanted, "preference": race.preference(seat, case)})


def _task(play: Play, seat: Seat, case: str) -> dict[str, Any]:
    run = play.run(seat, case)
    return {
        "seat": seat,
        "case": case,
        "snapshot": run.snapshot,
        "stale": run.stale,
        "graded": run.graded or "",
        "seat_judge": play.pack.has_judge_seat,
        "events": run.events,
    }


def _end(play: Play) -> Effect:
    found = [list(runs.values()) for runs in play.race.runs]
    cards = [[run.card or Summary() for run in runs] for runs in found]
    scores = [Score(utility=2 * seat_card(each).overall - 1, security=seat_score(each)) for each in cards]
    return end(scores, scorecards=[seat_card(each) for each in cards])


# The judge at the table


def ask(play: Play, result: dict[str, Any]) -> Effects:
    """Send questions to the judge and wait for its verdicts."""
    race, about = play.race, result["about"]
    if race.judged:
        return
    asked, until = [], play.now + round(1000 * play.pack.options.judge_seconds)
    for judge, question in ((judge, each) for judge in race.judges[:1] for each in result["questions"]):
        id_ = f"q{len(race.questions) + 1}"
        race.questions[id_] = {"id": question["id"], "about": about, "judge": judge}
        asked.append(id_)
        asks = {name: question[name] for name in ("system", "user", "form") if name in question}
        yield tell(judge, as_json(type="question", id=id_, **asks, until=until))
    if "seat" in about:
        run = play.run(about["seat"], about["case"])
        run.asked, run.job = asked, ""
    else:
        race.ranked[about["case"]] = asked
    if asked:
        yield deadline("judge", after=play.pack.options.judge_seconds)


def answer(play: Play, judge: Seat, id_: str) -> dict[str, Any]:
    """The question that a verdict answers, which does not wait any more."""
    question = play.race.questions.get(id_)
    if question is None or question["judge"] != judge:
        raise Refused("NO_SUCH_QUESTION", "You were not asked this.")
    for waiting in _waiting(play):
        if id_ in waiting:
            waiting.remove(id_)
            return question
    raise Refused("ANSWERED", "You have answered this, or your time is up.")


def _waiting(play: Play) -> list[list[str]]:
    runs = [run.asked for each in play.race.runs for run in each.values() if run.asked]
    return [*runs, *play.race.ranked.values()]


def judge_is_late(play: Play) -> Effects:
    """The time of the judge at the table is up: what it did not answer stays without a verdict."""
    play.race.judged = True
    for runs in play.race.runs:
        for run in runs.values():
            if run.job == "question":
                run.job = ""
            run.asked = []
    yield say(as_json(type="judge", state="late"))


# Votes


def show(play: Play, outputs: dict[str, dict[str, str]], rng: Random) -> Effects:
    """Show outputs: with names where that was wanted, without them where they are voted on."""
    race, options = play.race, play.pack.options
    race.polls = "closed"
    if options.show_outputs and not play.pack.polls:
        for case, by_seat in outputs.items():
            for seat, output in by_seat.items():
                yield say(as_json(type="output", case=case, player=int(seat) + 1, output=output))
    if options.votes is None:
        return
    lanes = ((case, int(seat), int(seat)) for case, by_seat in outputs.items() for seat in by_seat)
    for case, pairs in conversation.pairs(lanes).items():
        for pair in pairs:
            sides = dict(zip("AB", rng.sample(pair, 2), strict=True))
            id_ = f"b{len(race.ballots) + 1}"
            race.ballots[id_] = Ballot(case=case, sides=sides)
            shown = {side: outputs[case][str(seat)] for side, seat in sides.items()}
            yield say(as_json(type="ballot", ballot=id_, case=case, seconds=options.votes.seconds, **shown))
    if race.ballots:
        race.polls = "open"
        yield deadline("votes", after=options.votes.seconds)


def vote(play: Play, voter: str, ballot: str, choice: str) -> Effects:
    """Count a vote, one for each voter and ballot."""
    found = play.race.ballots.get(ballot)
    if play.race.polls != "open" or found is None:
        raise Refused("NO_SUCH_BALLOT", "There is no such ballot, or it is closed.")
    if choice not in {*found.sides, TIE}:
        raise Refused("NO_SUCH_CHOICE", "Choose A, B or tie.")
    if voter in found.votes:
        raise Refused("VOTED", "You have voted on this pair.")
    found.votes[voter] = choice
    yield say(as_json(type="votes", ballot=ballot, votes=len(found.votes)))
