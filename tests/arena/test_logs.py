"""Logs: what is told at which level, and what is never told."""

import asyncio
import gc
import logging

import pytest

from tests.logbooks import written

SECRET = "the secret is forty-two"
LIBRARIES = ("uvicorn.error", "websockets.server", "sse_starlette.sse", "redis", "asyncio")
SILENT = ("uvicorn.access", "mcp.server")  # once there is a server, or an agent has come, they are told even less


@pytest.mark.parametrize("format", ["console", "json"])
def test_of_libraries_only_warnings_are_told_at_whatever_level(format: str) -> None:
    with written("debug", format) as text:  # type: ignore[arg-type]
        for name in (*LIBRARIES, *SILENT):
            logging.getLogger(name).debug("chunk: %s", SECRET)
            logging.getLogger(name).info("GET /ws?key=%s", SECRET)
            logging.getLogger(name).warning("something about %s", name)
        logging.getLogger("arena.engine").debug("a fact of ours")
        logging.getLogger("challenges.psi").info("a fact of a challenge")

    assert SECRET not in text.getvalue()
    assert all(f"something about {name}" in text.getvalue() for name in LIBRARIES)
    assert "a fact of ours" in text.getvalue()
    assert "a fact of a challenge" in text.getvalue()


def test_of_us_what_is_below_the_level_is_not_told() -> None:
    with written("error") as text:
        logging.getLogger("arena.engine").warning("a warning of ours")
        logging.getLogger("uvicorn.error").warning("a warning of others")
        logging.getLogger("arena.engine").error("an error of ours")

    assert [line.split(" ", 2)[2] for line in text.getvalue().splitlines()] == ["ERROR   arena.engine an error of ours"]


@pytest.mark.parametrize("format", ["console", "json"])
async def test_an_error_that_only_the_event_loop_has_caught_is_told_without_its_words(format: str) -> None:
    async def fall() -> None:
        raise RuntimeError(SECRET)

    def stumble(over: str) -> None:
        raise RuntimeError(over)

    with written("info", format) as text:  # type: ignore[arg-type]
        task = asyncio.create_task(fall())
        await asyncio.wait([task])
        del task
        gc.collect()
        asyncio.get_running_loop().call_soon(stumble, SECRET)
        await asyncio.sleep(0)

    assert "Task exception was never retrieved" in text.getvalue()
    assert "Exception in callback" in text.getvalue()
    assert text.getvalue().count("error=RuntimeError at=") == 2
    assert SECRET not in text.getvalue()


class Odd:
    """Something that cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError(SECRET)


@pytest.mark.parametrize("format", ["console", "json"])
def test_a_fact_is_one_line_whatever_is_in_it(format: str) -> None:
    with written("info", format) as text:  # type: ignore[arg-type]
        logging.getLogger("arena.engine").info("said %s", "a\nb\r\x1b[31mc\u2028d\ud83d")

    [line] = text.getvalue().split("\n")[:-1]
    assert not {"\r", "\x1b"} & set(line)


@pytest.mark.parametrize("format", ["console", "json"])
def test_of_a_line_that_cannot_be_written_nothing_is_shown(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    with written("info", format) as text:  # type: ignore[arg-type]
        logging.getLogger("arena.engine").info("said %s %d", Odd(), SECRET)

    assert text.getvalue() == "a line of log is missing logger=arena.engine\n"
    assert SECRET not in "".join(capsys.readouterr())
