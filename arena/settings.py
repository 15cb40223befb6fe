"""Every knob of a server, in one frozen model that is handed down."""

import ipaddress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AliasChoices, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, field_validator
from pydantic.alias_generators import to_camel
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from arena.version import __version__

UNIX = "unix"  # a proxy that comes by a unix socket, and so has no address


def default_data() -> Path:
    """Where the embedded store keeps its files unless told otherwise."""
    return platformdirs.user_data_path("arena")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Settings(BaseSettings):
    """Read once from `ARENA_…` variables and the command line; 0 switches a limit off."""

    model_config = SettingsConfigDict(
        env_prefix="ARENA_", env_ignore_empty=True, frozen=True, extra="ignore", populate_by_name=True
    )

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 3001
    workers: PositiveInt = 1
    store: str | None = None  # redis://, rediss:// or unix://; none starts an embedded Valkey
    data: Path = Field(default_factory=default_data)
    fsync: Literal["everysec", "always"] = "everysec"  # of the embedded store
    auth: Literal["open", "required"] | None = None  # none is open, and only on loopback
    auth_secret: str | None = Field(
        default=None, repr=False, validation_alias=AliasChoices("ARENA_AUTH_SECRET", "AUTH_SECRET")
    )  # what session keys are made with where they are required
    admin_token: str | None = Field(default=None, repr=False)  # what an admin has to show; none has no admins
    load: Annotated[tuple[str, ...], NoDecode] = ()  # plugin modules for this run
    secrets: Path | None = None  # JSON or TOML: values that tools of packs may use, by name
    config: Path | None = None  # JSON or TOML: challenges, their options, what counts them, models
    origins: Annotated[tuple[str, ...], NoDecode] = ()  # pages of other hosts that may connect
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = ()  # networks, or `unix`, whose headers we believe
    proxy_header: Literal["x-forwarded-for", "forwarded"] = "x-forwarded-for"  # the one that they write
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"
    metrics: Literal["on", "off"] | None = None  # none shows them to this machine alone
    metrics_token: str | None = Field(default=None, repr=False)  # what a scraper has to show

    limit_frame_bytes: NonNegativeInt = 64 * 1024
    limit_content_bytes: NonNegativeInt = 32 * 1024
    limit_frames_per_second: NonNegativeFloat = 50  # per connection, with a burst of twice as many
    limit_requests_per_second: NonNegativeFloat = 500  # of an address over HTTP; rates have a burst of twice as many
    limit_joins_per_second: NonNegativeFloat = 100  # of an address or identity; `resume` is free
    limit_creates_per_second: NonNegativeFloat = 50  # of an address or identity
    limit_body_bytes: NonNegativeInt = 64 * 1024  # of an HTTP request
    limit_connections_per_address: NonNegativeInt = 1_000
    limit_open_sessions_per_address: NonNegativeInt = 100
    limit_queue_tickets: NonNegativeInt = 1_000  # that wait for one challenge
    limit_queue_tickets_per_address: NonNegativeInt = 100  # of those
    limit_channel_messages: NonNegativeInt = 10_000
    limit_channel_bytes: NonNegativeInt = 16 * 1024 * 1024
    limit_channels: NonNegativeInt = 10_000  # that belong to no session
    limit_pack_bytes: NonNegativeInt = 1024 * 1024  # of the text of a pack that is published
    limit_asset_bytes: NonNegativeInt = 16 * 1024 * 1024  # of a file that belongs to a pack
    limit_library_bytes: NonNegativeInt = 1024 * 1024 * 1024  # of all packs and their files
    limit_stall_seconds: NonNegativeFloat = 60  # a socket that takes nothing for so long is closed

    sandbox: Literal["auto", "bubblewrap", "docker", "none"] = "auto"  # where the tools of packs run
    sandbox_slots: PositiveInt = 2  # commands that a worker runs at once
    sandbox_seconds: PositiveFloat = 30  # of a command that asks for no other time
    sandbox_most_seconds: PositiveFloat = 300  # that a command may ask for
    sandbox_memory_bytes: PositiveInt = 512 * 1024 * 1024  # of all processes of a command
    sandbox_disk_bytes: PositiveInt = 64 * 1024 * 1024  # of a work directory, and of what a command writes
    sandbox_files: PositiveInt = 10_000
    sandbox_processes: PositiveInt = 64
    sandbox_output_bytes: PositiveInt = 64 * 1024  # of a result that an agent gets
    sandbox_network: Literal["off", "public", "private"] = "public"  # what packs may ask for
    sandbox_readable: Annotated[tuple[str, ...], NoDecode] = ()  # directories of this machine that sandboxes may read
    sandbox_image: str = "python:3.11-slim"  # of docker

    open_seconds: PositiveFloat = 600  # a session that nobody filled is removed after so long
    queue_ticket_seconds: PositiveFloat = 30  # a ticket whose owner was not heard of for so long is dropped
    queue_join_seconds: PositiveFloat = 120  # a session of paired players that is not full after so long is removed
    queue_backfill_seconds: NonNegativeFloat = 30  # after which house bots take the seats that are free; 0 is never
    queue_reach: NonNegativeFloat = 100  # rating points between players who may meet at once
    queue_widen: NonNegativeFloat = 10  # points more, for every second that they have waited
    chat_after_end_seconds: NonNegativeFloat = 600
    keep_days: NonNegativeFloat = 0  # 0 keeps ended sessions for ever; results are always kept
    ping_seconds: NonNegativeFloat = 20
    ping_timeout_seconds: NonNegativeFloat = 60
    event_ping_seconds: NonNegativeFloat = 30  # between the comments that keep an event stream open
    page_bytes: PositiveInt = 256 * 1024  # one page of catch-up from the log
    outbox_bytes: PositiveInt = 256 * 1024  # what a reader may lag before it is caught up from the log
    store_timeout_seconds: PositiveFloat = 5  # silence of the store that counts as its absence
    store_patience_seconds: PositiveFloat = 3  # how long a commit is tried again before the client is told
    fold_wait_seconds: NonNegativeFloat = 2  # how long the move that ends a game waits for its scoring
    blob_bytes: PositiveInt = 16 * 1024 * 1024  # one file or work directory that a job keeps for its session
    session_blob_bytes: PositiveInt = 128 * 1024 * 1024  # all of them together
    hot_sessions: PositiveInt = 10_000  # sessions a worker keeps decoded

    @field_validator("load", "origins", "trusted_proxies", "sandbox_readable", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        """Lists come from the environment with commas."""
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("trusted_proxies")
    @classmethod
    def check_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Proxies are addresses, networks or `unix`."""
        for network in value:
            if network != UNIX:
                ipaddress.ip_network(network)
        return value

    @property
    def must_sign(self) -> bool:
        """Whether players have to show who they are."""
        return self.auth == "required"

    @property
    def server(self) -> str:
        """How this server calls itself."""
        return f"arena/{__version__}"

    @cached_property
    def announced(self) -> dict[str, float]:
        """The limits that a client is told, under the names of the protocol."""
        told = {name.removeprefix("limit_"): getattr(self, name) for name in LIMITS}
        return {to_camel(name): value for name, value in told.items()}


LIMITS = (
    *(name for name in Settings.model_fields if name.startswith("limit_")),
    "open_seconds",
    "chat_after_end_seconds",
    "keep_days",
    "ping_seconds",
    "ping_timeout_seconds",
)
