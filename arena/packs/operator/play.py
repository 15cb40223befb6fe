"""Play: the course of runs, from the case that a seat is told to the end of its run. Pure; yields effects."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from arena.effects import Effect, Effects, Note, cancel, deadline, note, say, tell
from arena.errors import Refused
from arena.models import Millis, Seat
from arena.packs.blocks import Case
from arena.packs.operator.pack import Pack
from arena.packs.operator.state import Race, Run


def moment(now: Millis) -> str:
    """A time as run events tell it."""
    return datetime.fromtimestamp(now / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_json(**fields: Any) -> str:
    """A message for programs."""
    return json.dumps(fields, ensure_ascii=False)


@dataclass(frozen=True)
class Play:
    """One input of a race: what is played, how it stands, and when."""

    pack: Pack
    race: Race
    now: Millis

    def run(self, seat: Seat, case: str) -> Run:
        """The run of a seat on a case."""
        return self.race.runs[seat][case]

    def record(self, seat: Seat, case: str, type: str, **payload: Any) -> Note:
        """An event of a run, for the run log."""
        run = self.run(seat, case)
        run.events += 1
        event: dict[str, Any] = {
            "type": type,
            "sequence_number": run.events,
            "occurred_at": moment(self.now),
            "payload": payload,
        }
        return note(seat, {"case": case, "event": event})

    def running(self, seat: Seat, case: str | None = None) -> tuple[str, Run]:
        """The run that a seat speaks of: the one it names, or the only one that runs."""
        runs = self.race.runs[seat]
        if case is not None and case not in runs:
            raise Refused("NO_SUCH_CASE", "You have no case of that key.")
        found = [key for key, run in runs.items() if run.stage == "running" and case in {None, key}]
        if not found:
            raise Refused("NOT_RUNNING", "This case is not running." if case else "None of your cases is running.")
        if len(found) > 1:
            raise Refused("WHICH_CASE", "Several of your cases are running: name one.")
        return found[0], runs[found[0]]

    # The course of a run

    def open(self, seat: Seat, key: str) -> Effects:
        """Hand a case to a seat, and start its time."""
        run, case = self.run(seat, key), self.pack.cases[key]
        run.stage, run.started = "running", self.now
        yield self.record(seat, key, "system.run.started", case_key=key)
        yield tell(seat, self.brief(key, case))
        yield deadline(f"case:{seat}:{key}", after=max(0.001, self.pack.seconds(case)))

    def brief(self, key: str, case: Case) -> str:
        """A case as a seat is told: never what is expected of it."""
        pack, limits = self.pack, self.pack.limits.model_dump(exclude_none=True)
        security = pack.bundle.security
        tempting = security.adversarial_prompts if security else ()
        return as_json(
            type="case",
            case=key,
            number=list(pack.cases).index(key) + 1,
            of=len(pack.cases),
            title=pack.challenge(case).title,
            mode=pack.mode or "native",
            instructions=pack.instructions(case),
            inputs=[each.document() for each in case.inputs],
            payload=case.payload,
            tools=pack.tools(case),
            limits={**limits, "seconds": pack.seconds(case)},
            **({"prompts": [{"name": each.name, "text": each.text} for each in tempting]} if tempting else {}),
        )

    def complete(self, seat: Seat, case: str, output: str) -> Effects:
        """A run has come to its answer."""
        yield self.record(seat, case, "system.output.finalized", final_output=output)
        yield self.record(seat, case, "system.run.completed", final_output=output)
        if self.pack.options.show_outputs and len(self.pack.seats) == 1:
            yield say(as_json(type="output", case=case, player=seat + 1, output=self.pack.veil(output)))
        yield from self._close(seat, case)

    def fail(self, seat: Seat, case: str, reason: str) -> Effects:
        """A run ends without an answer."""
        self.run(seat, case).failed = reason
        yield self.record(seat, case, "system.run.failed", reason=reason)
        yield tell(seat, as_json(type="failed", case=case, reason=reason))
        yield from self._close(seat, case)

    def _close(self, seat: Seat, case: str) -> Effects:
        run, runs = self.run(seat, case), self.race.runs[seat]
        run.stage, run.job = "finished", ""
        yield cancel(f"case:{seat}:{case}")
        yield cancel(f"human:{seat}:{case}")
        done = sum(each.stage in {"finished", "scored"} for each in runs.values())
        yield say(as_json(type="progress", player=seat + 1, done=done, of=len(runs), failed=bool(run.failed)))

    def next_case(self, seat: Seat) -> str | None:
        """The case that a seat gets next, if it has none at the moment."""
        stages = {key: run.stage for key, run in self.race.runs[seat].items()}
        waiting = (key for key, stage in stages.items() if stage == "waiting")
        return None if "running" in stages.values() else next(waiting, None)

    # Limits

    def check(self, seat: Seat, case: str) -> list[Effect]:
        """End a run that has used up what it may use."""
        run, limits = self.run(seat, case), self.pack.limits
        if limits.max_total_tokens and run.tokens > limits.max_total_tokens:
            return list(self.fail(seat, case, "max_total_tokens exceeded"))
        if limits.max_cost_usd and run.cost_usd > limits.max_cost_usd:
            return list(self.fail(seat, case, "max_cost_usd exceeded"))
        return []
