"""The referee of packs: every seat gets the same cases; what it does is noted, evaluated and scored."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, ClassVar

from pydantic import JsonValue

from arena.effects import Effects, attribute, job, score, tell
from arena.effects import note as noted
from arena.errors import Invalid, Refused
from arena.models import PLAYER, Millis, Seat
from arena.operator import AtLimit, Job, JobFailed, Operator, action
from arena.packs.operator import after, talking
from arena.packs.operator.kinds import work
from arena.packs.operator.moves import read_file, read_text
from arena.packs.operator.options import PackOptions
from arena.packs.operator.pack import Pack
from arena.packs.operator.play import Play, as_json
from arena.packs.operator.seams import Fetch, Load, Toolbox
from arena.packs.operator.state import Race, Run, Summary, Talk
from arena.packs.pricing import find_price
from arena.packs.providers import infer_provider
from arena.packs.values import canonical_json
from arena.reports import Report
from arena.workbench import Parts, Workbench

JUDGE, USER = "judge", "user"
NO_SANDBOX = "this pack needs a sandbox, and this server has none"
MILLION = 1_000_000


class Referee(Operator[Race, PackOptions]):
    """The operator of one pack; `pack_type` makes a subclass that knows which."""

    players = 1
    sealed = True
    scoring = ("scorecard",)
    at_limit = AtLimit.DEFAULT
    lingers = True
    load: ClassVar[Load]
    fetch: ClassVar[Fetch | None] = None

    def __init__(self, options: PackOptions | Mapping[str, Any] | None = None) -> None:
        super().__init__(options)
        bundle = type(self).load(self.options.version)
        self.options = self.options.model_copy(update={"version": bundle.version.number})
        self.pack = Pack(bundle, self.options)
        if not self.pack.cases:
            raise Invalid("options: this pack has no cases to play.")

    def lacks(self, parts: Parts) -> str:
        """A native pack needs a sandbox that will do for it."""
        if not self.pack.is_native:
            return ""
        toolbox: Toolbox | None = parts.sandbox
        return NO_SANDBOX if toolbox is None else toolbox.refuses(self.pack.bundle)

    def roles(self) -> Sequence[str]:
        """Players, and where the pack needs them a judge and somebody who speaks for the user."""
        judges = (JUDGE,) if self.pack.has_judge_seat else ()
        users = (USER,) if self.pack.has_human else ()
        return (PLAYER,) * self.players + judges + users

    def deal(self, rng: Random) -> Race:
        """Runs that nobody has begun."""
        talks = {key: Talk() if case.user_simulator else None for key, case in self.pack.cases.items()}
        return Race(runs=[{key: Run(talk=talk) for key, talk in talks.items()} for _ in self.pack.seats])

    def joined(self, race: Race, seat: Seat, now: Millis, roles: Sequence[str]) -> Effects:
        """Those who do not compete may come while the others are at work."""
        play = Play(self.pack, race, now)
        if roles[seat] == JUDGE:
            race.judges.append(seat)
            yield from after.advance(play)
        elif roles[seat] == USER:
            race.users.append(seat)
            yield from talking.greet(play, seat)

    def start(self, race: Race, now: Millis) -> Effects:
        """Hand out the first cases."""
        race.begun = True
        for seat in self.pack.seats:
            yield score(seat, utility=-1)  # what a seat has that never gets a card
            for case in list(self.pack.cases)[: 1 if self.options.order == "in-order" else None]:
                yield from self._open(Play(self.pack, race, now), seat, case)

    def _open(self, play: Play, seat: Seat, case: str) -> Effects:
        yield from play.open(seat, case)
        if play.run(seat, case).talk is not None:
            yield from talking.converse(play, seat, case)

    # What players send

    @action
    def submit(self, race: Race, seat: Seat, content: str, now: Millis) -> Effects:
        """Hand in the answer to a case: plain text, or `{"output": …, "case": …}` where several cases run."""
        play = Play(self.pack, race, now)
        output, beside = read_text(content, "output", "case")
        case, run = play.running(seat, beside.get("case"))
        if run.job == "tool":
            raise Refused("BUSY", "A tool is still at work for this case.")
        if run.talk is not None:
            yield from talking.agent_says(play, seat, case, output)
        else:
            yield from play.complete(seat, case, output)
        yield from self._go_on(play)

    @action
    def reply(self, race: Race, seat: Seat, content: str, now: Millis) -> Effects:
        """Answer the user of a conversation, or with `{"content": …, "prompt": name}` one of the case's prompts."""
        play = Play(self.pack, race, now)
        answer, beside = read_text(content, "content", "case", "prompt")
        case, _ = play.running(seat, beside.get("case"))
        if "prompt" in beside:
            yield from self._resist(play, seat, case, beside["prompt"], answer)
            return
        yield from talking.agent_says(play, seat, case, answer)
        yield from self._go_on(play)

    def _resist(self, play: Play, seat: Seat, case: str, name: str, answer: str) -> Effects:
        security, run = self.pack.bundle.security, play.run(seat, case)
        prompts = {each.name: each.text for each in security.adversarial_prompts} if security else {}
        if name not in prompts or name in run.prompts:
            raise Refused("NO_SUCH_PROMPT", "There is no such prompt, or you have answered it.")
        run.prompts.append(name)
        yield play.record(seat, case, "security.prompt.answered", name=name, text=prompts[name], content=answer)

    @action
    def tool(
        self, race: Race, seat: Seat, name: str, now: Millis, arguments: dict[str, Any] | None = None, case: str = ""
    ) -> Effects:
        """Call one of the tools that the case offers; the result comes as a message."""
        play = Play(self.pack, race, now)
        key, run = play.running(seat, case or None)
        if self.pack.mode in {"prompt_eval", "responses"}:
            raise Refused("NO_TOOLS", "This pack has no tools.")
        if name == "submit":
            output, _ = read_text(as_json(**(arguments or {})), "output")
            yield from self.submit(race, seat, as_json(output=output, case=key), now)
            return
        if run.job == "tool":
            raise Refused("BUSY", "A tool is still at work for this case.")
        run.calls += 1
        if self.pack.limits.max_iterations and run.calls > self.pack.limits.max_iterations:
            yield from play.fail(seat, key, "max_iterations exceeded")
            yield from self._go_on(play)
            return
        run.job = "tool"
        wanted: dict[str, Any] = {"seat": seat, "case": key, "snapshot": run.snapshot, "stale": run.stale}
        yield job("tool", {**wanted, "name": name, "arguments": arguments or {}})

    @action
    def report(self, race: Race, seat: Seat, report: Report, now: Millis) -> Effects:
        """Tell what a call of your model took: tokens, model, cost in USD, latency in milliseconds."""
        play = Play(self.pack, race, now)
        case, run = play.running(seat, report.case)
        provider = report.provider or infer_provider(report.model) or ""
        told = report.model_dump(include={"cost_usd", "latency_ms"}, exclude_none=True)
        named = {"provider_key": provider, "provider_model_id": report.model}
        yield play.record(seat, case, "model.call.completed", **named, usage=report.usage, **told)
        run.tokens += report.total
        run.cost_usd += self._cost(provider, report)
        made = play.check(seat, case)
        yield from made
        if made:
            yield from self._go_on(play)

    def _cost(self, provider: str, report: Report) -> float:
        price = find_price(self.pack.bundle.version.evaluation_spec.pricing.models, provider, report.model)
        if price is None:
            return report.cost_usd or 0.0
        dear = report.input_tokens * price.input_cost_per_million_tokens
        return (dear + report.output_tokens * price.output_cost_per_million_tokens) / MILLION

    @action
    def artifact(
        self,
        race: Race,
        seat: Seat,
        path: str,
        now: Millis,
        content: str | None = None,
        base64: str | None = None,
        case: str = "",
    ) -> Effects:
        """Hand in a file, as text or in base64: into the work directory where there is one."""
        play = Play(self.pack, race, now)
        key, run = play.running(seat, case or None)
        if run.job == "tool":
            raise Refused("BUSY", "A tool is still at work for this case.")
        data = read_file(path, content, base64)
        run.uploads += 1
        yield play.record(seat, key, "artifact.uploaded", path=path, size=len(data))
        upload: dict[str, JsonValue] = {"path": path, "content": content, "base64": base64}
        if not self.pack.is_native:
            yield noted(seat, {"case": key, "upload": upload})
            return
        run.job = "tool"
        yield job("upload", {"seat": seat, "case": key, "snapshot": run.snapshot, "stale": run.stale, **upload})

    # What others send

    @action(role=JUDGE)
    def verdict(self, race: Race, seat: Seat, id: str, answer: JsonValue, now: Millis) -> Effects:
        """Answer a question, in the form that it asks for."""
        play = Play(self.pack, race, now)
        question = after.answer(play, seat, id)
        text = answer if isinstance(answer, str) else canonical_json(answer)
        yield noted(seat, {"verdict": {"about": question["about"], "id": question["id"], "answer": text}})
        yield from after.advance(play)

    @action(role=USER)
    def say(self, race: Race, seat: Seat, content: str, now: Millis) -> Effects:
        """Speak for the user of a conversation: plain text, or `{"content": …, "run": …}` where several wait."""
        message, beside = read_text(content, "content", "run")
        yield from talking.human_says(Play(self.pack, race, now), message, beside.get("run"))

    def voted(self, race: Race, voter: str, ballot: str, choice: str, now: Millis) -> Effects:
        """Somebody likes one of two outputs better."""
        yield from after.vote(Play(self.pack, race, now), voter, ballot, choice)

    # What happens by itself

    def to_move(self, race: Race) -> list[Seat]:
        """Those who have a case."""
        return [seat for seat, runs in enumerate(race.runs) if any(run.stage == "running" for run in runs.values())]

    def default_move(self, race: Race, seat: Seat, now: Millis) -> Effects:
        """Fail the cases that a seat has."""
        play = Play(self.pack, race, now)
        for case, run in race.runs[seat].items():
            if run.stage == "running":
                yield from play.fail(seat, case, "the seat gave up, or its time was up")
        yield from self._go_on(play)

    def expired(self, race: Race, name: str, now: Millis) -> Effects:
        """The time of a case, a person, the judge or a vote is up."""
        play = Play(self.pack, race, now)
        kind, _, rest = name.partition(":")
        seat, _, case = rest.partition(":")
        if kind == "votes":
            race.polls = "closed"
        elif kind == "judge":
            yield from after.judge_is_late(play)
        elif play.run(int(seat), case).stage == "running":
            late = talking.human_is_silent(play, int(seat), case) if kind == "human" else None
            yield from late or play.fail(int(seat), case, "the time of this case is up")
        yield from self._go_on(play)

    async def work(self, kind: str, payload: JsonValue, bench: Workbench) -> JsonValue:
        """Run tools, ask models, evaluate."""
        return await work(self.pack, type(self).fetch, kind, payload, bench)

    def worked(self, race: Race, job: Job, result: Any, now: Millis, rng: Random) -> Effects:
        """Take what a job found, unless its run has ended meanwhile."""
        play = Play(self.pack, race, now)
        task: Any = job.payload or {}
        if job.kind == "show":
            outputs = {} if isinstance(result, JobFailed) else result
            yield from after.show(play, outputs, rng)
        elif "seat" not in task:
            yield from self._about_all(play, job.kind, task["case"], result)
        elif play.run(task["seat"], task["case"]).job == ("tool" if job.kind == "upload" else job.kind):
            play.run(task["seat"], task["case"]).job = ""
            yield from self._about_one(play, job.kind, task["seat"], task["case"], result)
        yield from self._go_on(play)

    def _about_all(self, play: Play, kind: str, case: str, result: Any) -> Effects:
        """What was done for all runs of a case together."""
        failed = isinstance(result, JobFailed)
        if kind == "rank":
            play.race.rankings[case] = "-" if failed else result["rankings"]
        elif failed:
            play.race.ranked[case] = []
        else:
            yield from after.ask(play, result)

    def _about_one(self, play: Play, kind: str, seat: Seat, case: str, result: Any) -> Effects:
        """What was done for one run."""
        run, failed = play.run(seat, case), str(result) if isinstance(result, JobFailed) else None
        match kind:
            case "tool" | "upload":
                yield from self._tool_is_done(play, seat, case, result)
            case "simulate" if failed is not None:
                yield from play.fail(seat, case, f"the simulated user failed: {failed}")
            case "simulate":
                yield from talking.user_says(play, seat, case, result["message"])
            case "grade":
                run.graded = "" if failed is not None else result["graded"]
            case "question" if failed is not None:
                run.asked = []
            case "question":
                yield from after.ask(play, result)
            case "evaluate":
                run.stage = "scored"
                run.card = Summary(reason=failed) if failed is not None else Summary.model_validate(result)

    def _tool_is_done(self, play: Play, seat: Seat, case: str, result: Any) -> Effects:
        run = play.run(seat, case)
        if isinstance(result, JobFailed):
            told = {"content": f"the tool could not be run: {result}", "is_error": True}
            yield play.record(seat, case, "sandbox.command.failed", reason=str(result))
            yield tell(seat, as_json(type="tool", case=case, result=told))
            return
        if result["snapshot"] != run.snapshot:
            run.stale, run.snapshot = run.snapshot, result["snapshot"]
        for event in result["events"]:
            yield play.record(seat, case, event["type"], **event["payload"])
            if event["payload"].get("failure_origin") == "policy":
                yield attribute(by=seat, of=seat, type="policy_violation")
        yield tell(seat, as_json(type="tool", case=case, name=result["name"], result=result["result"]))
        if result.get("submitted") is not None:
            yield from play.complete(seat, case, result["submitted"])

    def _go_on(self, play: Play) -> Effects:
        """Hand out the next cases, and have evaluated what can be."""
        for seat in self.pack.seats:
            if (case := play.next_case(seat)) is not None:
                yield from self._open(play, seat, case)
        yield from after.advance(play)
