"""Conversations: whose turn it is, by the phases of a simulated user. Pure."""

from arena.packs.blocks import Phase, UserSimulator
from arena.packs.conversation import HUMAN_TIMEOUT_MS, Progress, is_mismatch, is_over, phase_runs, turn_limit
from arena.packs.operator.state import Talk


def next_phase(simulator: UserSimulator, talk: Talk) -> Phase | None:
    """The phase whose user speaks next, which is noted in the talk; none when the conversation is over."""
    limit = turn_limit(simulator)
    while talk.turn < limit and talk.phase < len(simulator.phases):
        phase = simulator.phases[talk.phase]
        runs = talk.said > 0 or phase_runs(phase, last_mismatch=talk.mismatch)
        if runs and not _is_done(phase, talk, limit):
            return phase
        talk.phase, talk.said = talk.phase + 1, 0
    return None


def _is_done(phase: Phase, talk: Talk, limit: int) -> bool:
    match phase.actor:
        case "scripted":
            return talk.said >= len(phase.turns)
        case "human":
            return talk.said >= 1
        case _:
            most = phase.max_turns or limit
            progress = Progress(talk.said, most, talk.answer, talk.message)
            return talk.said >= most or (talk.said > 0 and is_over(phase.until, progress))


def hear(phase: Phase, talk: Talk, answer: str) -> None:
    """Take the agent's answer; a scripted turn may have expected something of it."""
    expects = phase.turns[talk.said].expects if phase.actor == "scripted" else ()
    talk.answer, talk.mismatch, talk.waits_for = answer, is_mismatch(answer, expects), "user"
    talk.turn += 1
    talk.said += 1


def patience(phase: Phase) -> float:
    """Seconds that a human is waited for."""
    return (phase.timeout_ms or HUMAN_TIMEOUT_MS) / 1000
