"""No secret leaves the server for anybody who may not have it, by any door, at any moment of a game."""

from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.heist import ADMIN_TOKEN, METRICS_TOKEN, SERVER_SECRET, of_the_server
from tests.ledger import Ledger, Secret
from tests.plots import Plot
from tests.servers import Process
from tests.witnesses import Place

SETTINGS = {
    "ARENA_LOAD": "tests.plugins.vault",
    "ARENA_LOG_LEVEL": "debug",
    "ARENA_METRICS_TOKEN": METRICS_TOKEN,
    "ARENA_ADMIN_TOKEN": ADMIN_TOKEN,
    "ARENA_TRUSTED_PROXIES": "127.0.0.1",
}
MODES = {
    "open": {"ARENA_LOG_FORMAT": "console"},
    "required": {"ARENA_LOG_FORMAT": "json", "AUTH_SECRET": SERVER_SECRET, "ARENA_PAGE_BYTES": "2000"},
}


@pytest.mark.parametrize("mode", MODES)
async def test_everybody_gets_what_is_theirs_and_nobody_gets_more(store: str, mode: str) -> None:
    ledger = Ledger()
    settings: dict[str, Any] = {"ARENA_AUTH": mode, **SETTINGS, **MODES[mode]}
    with Process(store=store, **settings) as server:
        async with AsyncExitStack() as stack:
            plot = Plot(Place(server.url, ledger, mode == "required"), stack)
            await plot.run()
        ledger.note("log", "log", "lines", server.log.read_bytes())

    secrets = [*plot.secrets, *of_the_server(mode == "required")]
    secrets.append(Secret("place of the store", store.partition("://")[2], lambda record: record.door == "log"))
    assert ledger.leaks(secrets) == []
    assert ledger.unseen(secrets) == []
