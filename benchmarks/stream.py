"""Stream: a member of a circle that listens to an event stream instead of a WebSocket."""

from benchmarks.circle import Member
from benchmarks.peer import TEXT

ASK = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n"
COMMENT = 0


class StreamMember(Member):
    """A peer that reads one channel, each event in a chunk of its own."""

    hello = ASK
    accepted = b" 200 "

    @staticmethod
    def walk(data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
        """The data of whole events at the beginning of some bytes, and the rest."""
        found = []
        at = 0
        while (line := data.find(b"\r\n", at)) > 0:
            body, end = line + 2, line + 2 + int(data[at:line], 16)
            if end + 2 > len(data):
                break
            begun = data.find(b"data: ", body, end)
            found.append((TEXT, data[begun + 6 : end - 2]) if begun >= 0 else (COMMENT, b""))
            at = end + 2
        return found, data[at:]
