"""What the routes of the leaderboards do, in words."""

from arena.errors import Invalid, NotFound
from arena.standing import Board, BoardList, HeadToHead, PlayerBoards, PlayerStanding
from arena.web.calls.lists import MOST
from arena.web.calls.rankings import CROSSED, PAGE
from arena.web.spec import examples
from arena.web.spec.operation import Content, Operation, Parameter, Tag

LENIENT = ["integer", "string"]
_limit = Parameter("limit", f"How many at most, 1 to {MOST}.", {"type": LENIENT, "default": PAGE})
_offset = Parameter("offset", "How many to leave out first.", {"type": LENIENT, "default": 0})
_metric = Parameter("metric", "What to sort by: a key of `metrics`; without it the first.", {"type": "string"})
_at = Parameter(
    "at",
    "The board as of this moment: milliseconds since the epoch, or a time of ISO 8601. Then without intervals.",
    {"type": "string", "examples": ["1767225600000", "2026-01-01T00:00Z"]},
)
_by = Parameter(
    "by",
    "`owner` for one line per declared owner, that of its best entrant, with all of its `variants`.",
    {"type": "string", "enum": ["owner"]},
)
_players = Parameter("players", "Users, parted by commas; without it the best of the board.", {"type": "string"})

LEADERBOARDS: dict[tuple[str, str], Operation] = {
    ("GET", "/api/leaderboards"): Operation(
        "listLeaderboards",
        Tag.PEOPLE,
        "The boards of this server",
        Content(BoardList, {"boards": [examples.BOARD_HEAD]}),
    ),
    ("GET", "/api/leaderboards/{board}/{strategy}"): Operation(
        "readLeaderboard",
        Tag.PEOPLE,
        "A board, best first, with how far it can be believed",
        Content(Board, examples.BOARD),
        "Intervals hold with 95 %. The interval of a rank holds with 95 % for all players of the board at once; who "
        "cannot be told apart from a neighbour is `tied`.",
        query=(_metric, _limit, _offset, _at, _by),
        errors=(Invalid, NotFound),
    ),
    ("GET", "/api/leaderboards/{board}/{strategy}/players/{user}"): Operation(
        "readStanding",
        Tag.PEOPLE,
        "A player on a board, with its neighbours and its history",
        Content(PlayerStanding, examples.STANDING),
        query=(_metric,),
        errors=(Invalid, NotFound),
    ),
    ("GET", "/api/leaderboards/{board}/{strategy}/head-to-head"): Operation(
        "readHeadToHead",
        Tag.PEOPLE,
        "Who met whom, and how it ended",
        Content(HeadToHead, examples.HEAD_TO_HEAD),
        query=(_players, _limit._replace(schema={"type": LENIENT, "default": CROSSED})),
        errors=(Invalid, NotFound),
    ),
    ("GET", "/api/users/{user}/leaderboards"): Operation(
        "readStandings",
        Tag.PEOPLE,
        "A player on all boards that it is on",
        Content(PlayerBoards, examples.STANDINGS),
    ),
}
