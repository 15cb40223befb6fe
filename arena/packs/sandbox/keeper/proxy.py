"""The only way out of a sandbox with a network: a proxy that speaks HTTP and CONNECT, and checks every address.

It listens inside the sandbox's network namespace, on a loopback that leads nowhere else, and connects from outside.
"""

import contextlib
import select
import socket
import threading
import time
from urllib.parse import urlsplit

from arena.packs.sandbox.keeper.egress import Egress, Forbidden, connect

PORT = 3128
_HEAD = 32 * 1024
_PIECE = 64 * 1024
AT_ONCE = 32
_PATIENCE = 30.0


class BadRequest(Exception):
    """What came was no request to a proxy."""


class Proxy:
    """Serves one sandbox until it is over."""

    def __init__(self, listener: socket.socket, egress: Egress, seconds: float, room: int) -> None:
        self.egress = egress
        self.until = time.monotonic() + seconds
        self.room = room  # bytes that may still pass
        self._listener = listener
        self._free = threading.Semaphore(AT_ONCE)

    def start(self) -> None:
        """Serve in threads that end with the process."""
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            self._free.acquire()
            try:
                guest, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(guest,), daemon=True).start()

    def _serve(self, guest: socket.socket) -> None:
        try:
            with guest, contextlib.suppress(OSError):
                guest.settimeout(_PATIENCE)
                self._answer(guest)
        finally:
            self._free.release()

    def _answer(self, guest: socket.socket) -> None:
        try:
            head, rest = _read_head(guest)
            host, port, forwarded = target(head)
            upstream = connect(self.egress, host, port, _PATIENCE)
        except BadRequest as error:
            guest.sendall(_told(400, str(error)))
        except Forbidden as error:
            guest.sendall(_told(403, str(error)))
        except OSError as error:
            guest.sendall(_told(502, f"cannot connect: {error.strerror or type(error).__name__}"))
        else:
            with upstream:
                if forwarded is None:
                    guest.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                else:
                    upstream.sendall(forwarded)
                upstream.sendall(rest)
                self._relay(guest, upstream)

    def _relay(self, guest: socket.socket, upstream: socket.socket) -> None:
        other = {guest: upstream, upstream: guest}
        open_ends = {guest, upstream}
        while open_ends:
            left = min(_PATIENCE, self.until - time.monotonic())
            ready, _, _ = select.select(list(open_ends), [], [], max(0, left))
            if not ready:
                return
            for end in ready:
                piece = end.recv(_PIECE)
                self.room -= len(piece)
                if self.room < 0:
                    return
                if piece:
                    other[end].sendall(piece)
                else:
                    open_ends.discard(end)
                    other[end].shutdown(socket.SHUT_WR)


def _read_head(guest: socket.socket) -> tuple[bytes, bytes]:
    raw = b""
    while b"\r\n\r\n" not in raw:
        piece = guest.recv(_PIECE)
        if not piece or len(raw) > _HEAD:
            raise BadRequest("the head of the request does not end")
        raw += piece
    head, _, rest = raw.partition(b"\r\n\r\n")
    return head, rest


def target(head: bytes) -> tuple[str, int, bytes | None]:
    """Host and port that a request is for, and the head to pass on; a tunnel passes on none."""
    first, *lines = head.split(b"\r\n")
    try:
        method, address, version = first.decode("ascii").split(" ")
        parts = urlsplit(f"//{address}" if method == "CONNECT" else address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadRequest("this is no request to a proxy") from None
    if not host or not version.startswith("HTTP/1."):
        raise BadRequest("this is no request to a proxy")
    if method == "CONNECT":
        return host, port or 443, None
    if parts.scheme != "http":
        raise BadRequest("only http addresses are asked for without a tunnel")
    kept = [line for line in lines if not _is_hop(line)]
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    start = f"{method} {path} {version}".encode("ascii")
    return host, port or 80, b"\r\n".join([start, *kept, b"Connection: close", b"", b""])


def _is_hop(line: bytes) -> bool:
    name = line.partition(b":")[0].strip().lower()
    return name in {b"connection", b"keep-alive"} or name.startswith(b"proxy-")


def _told(status: int, reason: str) -> bytes:
    body = f"{reason}\n".encode()
    head = f"HTTP/1.1 {status} Refused by the sandbox\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body
