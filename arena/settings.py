"""Every knob of a server, in one frozen model that is handed down."""

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, field_validator
from pydantic.alias_generators import to_camel
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from arena.version import __version__


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

    model_config = SettingsConfigDict(env_prefix="ARENA_", env_ignore_empty=True, frozen=True, extra="ignore")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 3001
    workers: PositiveInt = 1
    store: str | None = None  # redis://, rediss:// or unix://; none starts an embedded Valkey
    data: Path = Field(default_factory=default_data)
    fsync: Literal["everysec", "always"] = "everysec"  # of the embedded store
    auth: Literal["open", "required"] | None = None  # none is open, and only on loopback
    load: Annotated[tuple[str, ...], NoDecode] = ()  # plugin modules for this run
    origins: Annotated[tuple[str, ...], NoDecode] = ()  # pages of other hosts that may connect
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    limit_frame_bytes: NonNegativeInt = 64 * 1024
    limit_content_bytes: NonNegativeInt = 32 * 1024
    limit_frames_per_second: NonNegativeFloat = 50  # per connection, with a burst of twice as many
    limit_connections_per_address: NonNegativeInt = 1_000
    limit_open_sessions_per_address: NonNegativeInt = 100
    limit_channel_messages: NonNegativeInt = 10_000
    limit_channel_bytes: NonNegativeInt = 16 * 1024 * 1024
    limit_stall_seconds: NonNegativeFloat = 60  # a socket that takes nothing for so long is closed

    open_seconds: PositiveFloat = 600  # a session that nobody filled is removed after so long
    chat_after_end_seconds: NonNegativeFloat = 600
    keep_days: NonNegativeFloat = 0  # 0 keeps ended sessions for ever; results are always kept
    ping_seconds: NonNegativeFloat = 20
    ping_timeout_seconds: NonNegativeFloat = 60
    page_bytes: PositiveInt = 256 * 1024  # one page of catch-up from the log
    outbox_bytes: PositiveInt = 256 * 1024  # what a reader may lag before it is caught up from the log
    store_timeout_seconds: PositiveFloat = 5  # silence of the store that counts as its absence
    store_patience_seconds: PositiveFloat = 3  # how long a commit is tried again before the client is told
    fold_wait_seconds: NonNegativeFloat = 2  # how long the move that ends a game waits for its scoring
    hot_sessions: PositiveInt = 10_000  # sessions a worker keeps decoded

    @field_validator("load", "origins", mode="before")
    @classmethod
    def split(cls, value: Any) -> Any:
        """Lists come from the environment with commas."""
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @property
    def server(self) -> str:
        """How this server calls itself."""
        return f"arena/{__version__}"

    @property
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
