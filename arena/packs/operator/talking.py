"""Talking: the conversation of a run, whoever speaks for the user: a script, a model or a person. Pure."""

from arena.effects import Effects, cancel, deadline, job, tell
from arena.errors import Refused
from arena.models import Millis, Seat
from arena.packs.blocks import Phase, UserSimulator
from arena.packs.operator import talks
from arena.packs.operator.play import Play, as_json
from arena.packs.operator.state import Talk
from arena.packs.templates import context_of, render


def converse(play: Play, seat: Seat, case: str) -> Effects:
    """Let the user speak, or end the run when there is nothing more to say."""
    talk, simulator = _talk(play, seat, case)
    phase = talks.next_phase(simulator, talk)
    if phase is None:
        yield from play.complete(seat, case, talk.answer)
        return
    match phase.actor:
        case "scripted":
            told = play.pack.cases[case]
            message = render(phase.turns[talk.said].message, context_of(told.payload, told.inputs))
            yield from user_says(play, seat, case, message)
        case "human":
            patience = talks.patience(phase)
            talk.until = Millis(play.now + round(1000 * patience))
            yield deadline(f"human:{seat}:{case}", after=patience)
            for user in play.race.users:
                yield tell(user, _turn_of(seat, case, talk))
        case _:
            play.run(seat, case).job = "simulate"
            yield job("simulate", {"seat": seat, "case": case, "phase": talk.phase})


def user_says(play: Play, seat: Seat, case: str, message: str) -> Effects:
    """The user's words reach the agent."""
    talk, simulator = _talk(play, seat, case)
    phase = simulator.phases[talk.phase]
    talk.message, talk.waits_for = message, "agent"
    yield play.record(
        seat, case, "turn.user.message", turn_index=talk.turn, phase_id=phase.id, actor=phase.actor, content=message
    )
    yield tell(seat, as_json(type="user", case=case, turn=talk.turn, content=message))


def agent_says(play: Play, seat: Seat, case: str, answer: str) -> Effects:
    """The agent answers, and the conversation goes on."""
    talk, simulator = _talk(play, seat, case)
    if talk.waits_for != "agent":
        raise Refused("NOT_YOUR_TURN", "The user is about to speak.")
    phase, turn = simulator.phases[talk.phase], talk.turn
    talks.hear(phase, talk, answer)
    yield play.record(
        seat, case, "turn.assistant.message", turn_index=turn, phase_id=phase.id, actor="assistant", content=answer
    )
    yield play.record(
        seat, case, "turn.completed", turn_index=turn, phase_id=phase.id, actor=phase.actor, mismatch=talk.mismatch
    )
    yield from converse(play, seat, case)


def human_says(play: Play, content: str, run: str | None) -> Effects:
    """A person speaks for the user of a run that waits for one."""
    waiting = {_name(seat, case): (seat, case) for seat, case in waiting_for_humans(play)}
    if run is None and len(waiting) > 1:
        raise Refused("WHICH_RUN", f"Several conversations wait for you, name one: {', '.join(waiting)}.")
    found = next(iter(waiting.values()), None) if run is None else waiting.get(run)
    if found is None:
        raise Refused("NOT_YOUR_TURN", "No such conversation waits for you.")
    yield cancel(f"human:{found[0]}:{found[1]}")
    yield from user_says(play, *found, content)


def human_is_silent(play: Play, seat: Seat, case: str) -> Effects:
    """Nobody spoke for the user in time."""
    talk, simulator = _talk(play, seat, case)
    if simulator.phases[talk.phase].on_timeout == "fail":
        yield from play.fail(seat, case, "the human of the conversation was silent for too long")
    else:
        yield from play.complete(seat, case, talk.answer)


def greet(play: Play, user: Seat) -> Effects:
    """Tell somebody on the user's seat which conversations wait."""
    for seat, case in waiting_for_humans(play):
        talk, _ = _talk(play, seat, case)
        yield tell(user, _turn_of(seat, case, talk))


def waiting_for_humans(play: Play) -> list[tuple[Seat, str]]:
    """The runs whose user is a person who has not spoken yet."""
    return [
        (seat, case)
        for seat, runs in enumerate(play.race.runs)
        for case, run in runs.items()
        if run.stage == "running" and run.talk is not None and run.talk.waits_for == "user" and not run.job
        if _phase(play, seat, case).actor == "human"
    ]


def _phase(play: Play, seat: Seat, case: str) -> Phase:
    talk, simulator = _talk(play, seat, case)
    return simulator.phases[talk.phase]


def _talk(play: Play, seat: Seat, case: str) -> tuple[Talk, UserSimulator]:
    talk, simulator = play.run(seat, case).talk, play.pack.cases[case].user_simulator
    if talk is None or simulator is None:
        raise Refused("NO_CONVERSATION", "This case is no conversation.")
    return talk, simulator


def _name(seat: Seat, case: str) -> str:
    return f"{seat + 1}/{case}"


def _turn_of(seat: Seat, case: str, talk: Talk) -> str:
    told = {"case": case, "turn": talk.turn, "answer": talk.answer, "until": talk.until}
    return as_json(type="your-turn", run=_name(seat, case), **told)
