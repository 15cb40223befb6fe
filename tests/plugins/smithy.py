"""Smithy: a game whose jobs use everything on their bench, and remember how far they came."""

from random import Random

from pydantic import JsonValue

from arena import Effects, Job, JobFailed, Model, Operator, Seat, action, end, job, note, say
from arena.workbench import Workbench


class Forge(Model):
    said: list[str] = []


class Smithy(Operator[Forge]):
    players = 1

    def deal(self, rng: Random) -> Forge:
        return Forge()

    @action
    def forge(self, forge: Forge, seat: Seat, content: str) -> Effects:
        """Have something made of what was noted."""
        yield note(seat, {"iron": content})
        yield job("forge", content)

    @action
    def stop(self, forge: Forge, seat: Seat) -> Effects:
        """Go home."""
        yield end()

    async def work(self, kind: str, payload: JsonValue, bench: Workbench) -> JsonValue:
        heated = await bench.recall("heated")
        await bench.remember("heated", True)
        iron = [line["iron"] for line in await bench.notes(0)]
        await bench.blobs.put("blade", "".join(iron).encode())
        if payload == "die" and not heated:
            raise OSError("the fire went out")
        blade = await bench.blobs.get("blade") or b""
        return {"blade": blade.decode(), "again": heated, "secrets": [*sorted(bench.secrets)]}

    def worked(self, forge: Forge, job: Job, result: JsonValue | JobFailed) -> Effects:
        forge.said.append(str(result))
        yield say(str(result))
