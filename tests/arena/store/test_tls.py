"""A store that is reached by TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from arena import catalog
from arena.errors import CannotStart
from arena.runtime import open_arena
from arena.settings import Settings
from tests.guests import sit_down, visit
from tests.servers import served


@asynccontextmanager
async def behind_tls(store: str, home: Path) -> AsyncIterator[str]:
    """The same store by TLS, as a `rediss://` URL that names the certificate to trust."""
    certificate, key = home / "certificate.pem", home / "key.pem"
    _sign_oneself(certificate, key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_store, to_store = await asyncio.open_unix_connection(urlsplit(store).path)
        with suppress(OSError):
            await asyncio.gather(_pour(reader, to_store), _pour(from_store, writer))

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context)
    try:
        yield f"rediss://localhost:{server.sockets[0].getsockname()[1]}/0?ssl_ca_certs={certificate}"
    finally:
        server.close()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def _sign_oneself(certificate: Path, key: Path) -> None:
    private, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    now = datetime.now(UTC) - timedelta(minutes=1)
    until = now + timedelta(hours=1)
    signed = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number(), now, until)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(private, hashes.SHA256())
    )
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    key.write_bytes(
        private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    )


async def test_a_game_is_played_watched_and_scored_over_tls(store: str, tmp_path: Path) -> None:
    async with behind_tls(store, tmp_path) as url, served(url) as arena:
        game, eve = await sit_down(arena, users=("ada", "ben")), await visit(arena)
        await eve.get("watch", challengeId=game.id)

        await game.say(0, "x" * 30_000)
        await game.end()

        assert (await eve.hear("game_ended"))["data"]["status"] == "ended"
        assert len((await eve.hear_messages(game.id, 1))[0]["content"]) == 30_000
        board = await eve.get("leaderboard", challengeType="psi")
        assert [entry["gamesPlayed"] for entry in board["entries"]] == [1, 1]


async def test_a_certificate_that_nobody_vouches_for_is_refused(store: str, tmp_path: Path) -> None:
    async with behind_tls(store, tmp_path) as url:
        with pytest.raises(CannotStart, match="certificate verify failed"):
            async with open_arena(Settings(), catalog.Catalog(), url.partition("?")[0]):
                pass
