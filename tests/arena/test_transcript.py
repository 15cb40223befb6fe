import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from arena.chat import operator_channel
from arena.models import SessionId
from arena.transcript import BAR, Transcript

ID = SessionId("5b6e")
OPERATORS = operator_channel(ID)
HOSTILE = "\x1b[2J\x1b]0;owned\x07 \u202egnirts \r\n\x9b31m[red]x[/red]"


def transcript() -> Transcript:
    made = Transcript(ID)
    state = {"status": "active", "players": ["inv_a", "inv_b"]}
    list(made.begin({"name": "Psi", "state": state, "course": {"joined": [1, 2], "started": 2}}))
    return made


def message(content: str, index: int = 1, channel: str = ID, **fields: Any) -> dict[str, Any]:
    return {
        "channel": channel, "from": "inv_a", "content": content, "timestamp": 1000, "index": index, **fields,
    }  # fmt: skip


def read(made: Transcript, *frames: dict[str, Any]) -> list[str]:
    return [line.plain for frame in frames for line in made.hear(frame, 5.0)]


def new(told: dict[str, Any]) -> dict[str, Any]:
    return {"type": "new_message", "message": told, "epoch": ""}


def test_a_hidden_message_is_a_bar_that_says_who_to_whom_and_no_more() -> None:
    [line] = read(transcript(), new(message("", to="inv_b", redacted=True)))

    assert line.split("  ", 1)[1] == f"● Player 1 → ▲ Player 2  {BAR}"


def test_what_was_private_is_shown_after_the_end_and_once() -> None:
    made = transcript()
    bar = message("", 3, OPERATORS, **{"from": "operator", "to": "inv_a", "redacted": True})
    read(made, new(bar))
    opened = {**bar, "content": "Your set is {1}."}
    del opened["redacted"]

    lines = [line.plain for line in made.reveal([opened, message("said openly", 4, OPERATORS)])]

    assert lines[0] == "Formerly private:"
    assert [line.split("  ", 1)[1] for line in lines[1:]] == ["OPERATOR → ● Player 1  Your set is {1}."]


def test_joins_and_the_start_are_told_once() -> None:
    made = Transcript(ID)
    list(made.begin({"name": "Psi", "state": {"status": "open", "players": []}}))
    frames = [
        {"type": "state", "state": {"status": status, "players": players}, "spectators": 1}
        for status, players in (("open", ["inv_a"]), ("open", ["inv_a"]), ("active", ["inv_a", "inv_b"]))
    ]

    lines = [line.split("  ", 1)[1] for line in read(made, *frames, frames[-1])]

    assert lines == ["● Player 1 joined", "▲ Player 2 joined", "The game began"]


def test_what_the_operator_of_a_pack_tells_programs_is_read_as_words() -> None:
    progress = json.dumps({"type": "progress", "player": 2, "done": 1, "of": 3, "failed": False})
    output = json.dumps({"type": "output", "player": 1, "case": "rice", "output": f"{HOSTILE}"})
    said = [message(text, at + 1, OPERATORS, **{"from": "operator"}) for at, text in enumerate((progress, output))]

    [first, second, *rest] = read(transcript(), *map(new, said))

    assert first.endswith("OPERATOR  Player 2 finished a case: 1 of 3 are done.")
    assert second.endswith("Player 1 answered “rice”:")
    assert "[red]x[/red]" in rest[-1]
    assert "\x1b" not in "".join(rest)
    [untouched] = read(transcript(), new(message(progress)))  # a player said it
    assert untouched.endswith(progress)


def test_the_end_tells_names_scores_and_attributions() -> None:
    data = {
        "status": "ended", "completedAt": 9000, "players": ["inv_a", "inv_b"],
        "playerIdentities": {"inv_a": "ada", "inv_b": HOSTILE}, "profiles": {"ada": {"username": "Ada"}},
        "scores": [{"security": 1, "utility": -1}, {"security": 0, "utility": 0.5}],
        "attributions": [{"from": "inv_a", "to": "inv_b", "type": "security_breach"}],
    }  # fmt: skip

    lines = read(transcript(), {"type": "game_ended", "data": data})

    assert lines[1] == "● Ada  security +1, utility -1"
    assert lines[3].startswith("● Ada → ▲ ")
    assert lines[3].endswith("  security breach")
    assert "\x1b" not in "".join(lines)


def test_clocks_run_on_by_themselves() -> None:
    made = transcript()
    clocks = {"inv_a": 60_000, "inv_b": 90_000, "running": ["inv_b"]}
    read(made, {"type": "state", "state": made.state, "spectators": 3, "clocks": clocks})

    status = made.status(5.0 + 30).plain

    assert status == "Psi active  3 watching  ● Player 1 1:00  ▲ Player 2 ▸1:00"


@given(st.text(), st.text(min_size=1), st.sampled_from([None, "inv_b", HOSTILE]))
def test_nothing_that_a_player_types_moves_a_cursor(content: str, name: str, to: str | None) -> None:
    told = {**message(HOSTILE + content), "from": name, **({"to": to} if to else {})}

    lines = read(transcript(), new(told))

    assert all(character.isprintable() for line in lines for character in line)
