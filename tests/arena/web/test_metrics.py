"""Metrics: what is counted, who may read it, and that workers add up."""

import os
import signal
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.parser import text_string_to_metric_families

from arena.metrics import BUCKETS, Metrics
from tests.guests import comes_true, guest_at, sit_down, visit
from tests.servers import Process, Served, served
from tests.test_workers import one_per_worker
from tests.valkeys import Valkey

Numbers = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def scrape(url: str) -> Numbers:
    async with httpx.AsyncClient() as scraper:
        answer = await scraper.get(f"{url}/metrics")
    assert answer.status_code == 200, answer.text
    families = text_string_to_metric_families(answer.text)
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


async def number(url: str, name: str, **labels: str) -> float:
    return (await scrape(url))[name, frozenset(labels.items())]


async def test_a_game_is_counted(arena: Served) -> None:
    game = await sit_down(arena)
    await visit(arena, query=f"?watch={game.id}")
    for guest in game.players:
        await guest.hear("initial", channel=game.id)
    before = await scrape(arena.url)
    await game.say(0, "hello")
    await game.say(1, "psst", to=game.invites[0])
    for guest in game.players:
        await guest.hear_messages(game.id, 2)
    during = await scrape(arena.url)
    await game.end()
    after = await scrape(arena.url)

    def grown(name: str, **labels: str) -> float:
        key = name, frozenset(labels.items())
        return after[key] - before[key]

    assert grown("arena_actions_total") == 2
    assert grown("arena_chat_messages_total") == 2
    assert grown("arena_commit_seconds_count", script="commit") == 2
    assert grown("arena_commit_seconds_count", script="chat") == 2
    assert grown("arena_deliveries_total") >= 2 * 2
    connections = "arena_connections", frozenset({("door", "ws")})
    assert after[connections] == 4  # who created it, two players and a spectator
    statuses = [during["arena_sessions", frozenset({("status", s)})] for s in ("open", "active", "ended")]
    assert statuses == [0, 1, 0]
    assert after["arena_sessions", frozenset({("status", "ended")})] == 1
    assert after["arena_scoring_backlog", frozenset({("challenge", "psi")})] == 0
    assert after["arena_jobs_backlog", frozenset()] == after["arena_outbox_backlog", frozenset()] == 0
    assert after["arena_store_up", frozenset()] == 1
    assert after["process_resident_memory_bytes", frozenset({("worker", "0")})] > 1e6


async def test_deliveries_are_counted_by_message_and_reader(arena: Served) -> None:
    game = await sit_down(arena)
    for guest in game.players:
        await guest.hear("initial", channel=game.id)
    await comes_true(lambda: arena.arena.hub.behind == 0, "all are live")
    before = await number(arena.url, "arena_deliveries_total")

    for count in range(1, 6):
        await game.say(0, "hello")
        for guest in game.players:
            await guest.hear_messages(game.id, count)

    assert await number(arena.url, "arena_deliveries_total") - before == 5 * 2


def test_durations_fall_into_the_buckets_that_the_library_would_choose() -> None:
    metrics, plain = Metrics(), CollectorRegistry()
    one_by_one = Histogram("arena_commit_seconds", "The same.", buckets=BUCKETS, registry=plain)
    took = [0.0, *BUCKETS, *(bound * 1.01 for bound in BUCKETS), 1000.0]

    for seconds in took:
        metrics.commits["commit"].add(seconds)
        one_by_one.observe(seconds)
    metrics.publish()

    bounds = [*map(str, map(float, BUCKETS)), "+Inf"]
    names = [("arena_commit_seconds_bucket", {"le": bound}) for bound in bounds]
    for name, labels in (*names, ("arena_commit_seconds_sum", {}), ("arena_commit_seconds_count", {})):
        assert plain.get_sample_value(name, labels) is not None, (name, labels)
        ours = metrics.registry.get_sample_value(name, {**labels, "script": "commit"})
        assert ours == pytest.approx(plain.get_sample_value(name, labels)), (name, labels)
    metrics.publish()
    assert metrics.registry.get_sample_value("arena_commit_seconds_count", {"script": "commit"}) == len(took)


async def test_connections_that_close_are_counted_down(arena: Served) -> None:
    async with guest_at(arena.ws) as guest:
        await guest.hear("welcome")
        assert await number(arena.url, "arena_connections", door="ws") == 1

    async def is_gone() -> bool:
        return await number(arena.url, "arena_connections", door="ws") == 0

    await comes_true(is_gone, "no connection is left")


async def test_requests_are_counted_by_route_and_kind_of_status(arena: Served) -> None:
    async with httpx.AsyncClient(base_url=arena.url) as browser:
        for path in ("/static/app.js", "/static/view.js", "/static/nothing", "/x/1", "/x/2", "/health"):
            await browser.get(path)

    numbers = await scrape(arena.url)
    counted = {labels: value for (name, labels), value in numbers.items() if name == "arena_http_requests_total"}
    assert counted == {
        frozenset({("route", "/static"), ("status", "2xx")}): 2,
        frozenset({("route", "/static"), ("status", "4xx")}): 1,
        frozenset({("route", "unknown"), ("status", "4xx")}): 2,
        frozenset({("route", "/health"), ("status", "2xx")}): 1,
    }


async def test_refusals_are_counted_by_limit(store: str) -> None:
    async with served(store, limit_frames_per_second=1) as arena:
        guest = await visit(arena)
        answers = [await guest.ask("ping") for _ in range(5)]

        refused = sum(answer["type"] == "error" for answer in answers)
        assert refused > 0
        assert await number(arena.url, "arena_refusals_total", limit="frames") == refused


async def test_no_label_is_a_clients_own_word(arena: Served) -> None:
    game = await sit_down(arena, users=("ada-swordfish", "ben-swordfish"))
    await game.say(0, "word-swordfish")
    await game.end()
    async with httpx.AsyncClient(base_url=arena.url) as browser:
        await browser.get(f"/static/{game.invites[0]}", headers={"X-Request-ID": "id-swordfish"})
        text = (await browser.get("/metrics")).text

    assert "swordfish" not in text
    assert not [secret for secret in (game.id, *game.invites, *game.keys) if secret in text]


async def test_without_the_store_the_rest_is_told() -> None:
    with Valkey() as valkey:
        async with served(valkey.url) as arena:
            valkey.kill()

            numbers = await scrape(arena.url)

            assert numbers["arena_store_up", frozenset()] == 0
            assert ("arena_sessions", frozenset({("status", "open")})) not in numbers
            assert await number(arena.url, "arena_store_errors_total") > 0


# Who may read them


async def status_of(store: str, headers: dict[str, str] | None = None, **settings: Any) -> int:
    async with served(store, **settings) as arena, httpx.AsyncClient(base_url=arena.url) as scraper:
        return (await scraper.get("/metrics", headers=headers)).status_code


async def test_this_machine_may_read_them(store: str) -> None:
    assert await status_of(store) == 200


@pytest.mark.parametrize(
    "headers",
    [{"X-Forwarded-For": "203.0.113.7"}, {"Forwarded": "for=1.2.3.4"}, {"Via": "1.1 proxy"}, {"Host": "evil.example"}],
    ids=lambda headers: next(iter(headers)),
)
async def test_a_proxy_on_this_machine_and_a_name_that_points_here_may_not(store: str, headers: dict[str, str]) -> None:
    assert await status_of(store, headers) == 404
    assert await status_of(store, headers, metrics="on") == 200


async def test_a_server_for_others_shows_them_only_if_the_settings_say_so(store: str) -> None:
    public: dict[str, Any] = {"host": "0.0.0.0", "auth": "open"}

    assert await status_of(store, **public) == 404
    assert await status_of(store, **public, metrics="on") == 200
    assert await status_of(store, metrics="off") == 404


async def test_with_a_token_it_has_to_be_shown(store: str) -> None:
    setting: dict[str, Any] = {"metrics_token": "open-sesame"}

    assert await status_of(store, None, **setting) == 401
    assert await status_of(store, {"Authorization": "Bearer wrong"}, **setting) == 401
    assert await status_of(store, {"Authorization": "open-sesame"}, **setting) == 401
    assert await status_of(store, {"Authorization": "Bearer open-sesame"}, **setting) == 200
    assert await status_of(store, {"Authorization": "Bearer open-sesame"}, **setting, metrics="off") == 404


# Several workers


async def test_any_worker_tells_the_numbers_of_all(store: str) -> None:
    with Process(store=store, workers=2, ARENA_METRICS_TOKEN="") as process:
        async with AsyncExitStack() as stack:
            ada, ben = await one_per_worker(process, stack)
            made = await ada.get("create", challengeType="psi")
            for guest, invite in zip((ada, ben), made["invites"], strict=True):
                await guest.get("join", invite=invite)
            for guest in (ada, ben):
                await guest.get("chat", channel=made["id"], content="hello")

            async def all_agree() -> bool:
                numbers = [await number(process.url, "arena_chat_messages_total") for _ in range(10)]
                return set(numbers) == {2}

            await comes_true(all_agree, "every worker tells of both messages")
            told = [await scrape(process.url) for _ in range(10)]
            connections = "arena_connections", frozenset({("door", "ws")})
            assert len({numbers[connections] for numbers in told}) == 1
            assert told[0][connections] >= 2
            for worker in ("0", "1"):
                assert told[0]["process_cpu_seconds_total", frozenset({("worker", worker)})] > 0


async def test_a_worker_that_is_started_again_goes_on_counting_and_has_no_connections(store: str) -> None:
    with Process(store=store, workers=2) as process:
        async with AsyncExitStack() as stack:
            guests = await one_per_worker(process, stack)
            made = await guests[0].get("create", challengeType="psi")
            await guests[0].get("join", invite=made["invites"][0])
            await guests[0].get("chat", channel=made["id"], content="hello")

            async def is_told() -> bool:
                return await number(process.url, "arena_chat_messages_total") == 1

            await comes_true(is_told, "the message is counted")
            for pid in process.worker_pids():
                os.kill(pid, signal.SIGKILL)

            async def is_back() -> bool:
                try:
                    numbers = await scrape(process.url)
                except httpx.HTTPError:
                    return False
                return numbers["arena_connections", frozenset({("door", "ws")})] == 0

            await comes_true(is_back, "both workers are back, without connections")
            assert await number(process.url, "arena_chat_messages_total") == 1
