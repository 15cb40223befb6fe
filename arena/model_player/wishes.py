"""Wishes: a model player as people ask for one, in words and numbers, made a `ModelSpec`."""

import glob
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from arena import config
from arena.errors import CannotStart
from arena.llm.routes import ModelsConfig, Price, Route
from arena.model_player import mind, spec
from arena.model_player.player import DEFAULT, Manner, WhenOut
from arena.model_player.purse import Limits
from arena.model_player.spec import ModelSpec
from arena.models import complaint

Api = Literal["openai", "anthropic"]
KEY = "ARENA_MODEL_KEY"  # the variable for endpoints of one's own
CONFIG = "ARENA_CONFIG"
KEYS: dict[Api, str] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
PATIENT = ModelsConfig(attempts=5, backoff_seconds=1)  # of whoever has no file


@dataclass(frozen=True)
class ModelWish:
    """Which model is to play, where it is asked, and how much it may take."""

    model: str
    api: Api | None = None
    base_url: str | None = None
    key_env: str | None = None
    config: Path | None = None
    price: str | None = None  # USD per million tokens, as 3/15
    max_cost: float | None = None
    max_tokens: int | None = spec.DEFAULT_LIMITS.tokens
    max_turns: int | None = spec.DEFAULT_LIMITS.calls
    max_answer: int = mind.MOST
    context: int = DEFAULT.context
    temperature: float | None = None
    timeout: float = mind.SECONDS
    system: Path | None = None
    transcript: Path | None = None
    when_out: WhenOut = DEFAULT.when_out
    may_resign: bool = DEFAULT.may_resign


def model_player(
    wish: ModelWish, environment: Mapping[str, str], heard: Callable[[str], None] | None = None
) -> ModelSpec:
    """The player that is wished for; what makes no sense is refused here, before any seat is taken."""
    made = ModelSpec(
        wish.model,
        _models(wish, environment),
        environment,
        limits=Limits(usd=wish.max_cost, tokens=wish.max_tokens, calls=wish.max_turns),
        manner=Manner(
            context=wish.context, system=_read(wish.system), when_out=wish.when_out, may_resign=wish.may_resign
        ),
        temperature=wish.temperature,
        max_answer=wish.max_answer,
        seconds=wish.timeout,
        transcript=wish.transcript,
        **({"heard": heard} if heard else {}),
    )
    made.check()
    return made


def _models(wish: ModelWish, environment: Mapping[str, str]) -> ModelsConfig:
    """Routes and prices: those of the file, and before them what was said by hand."""
    file = wish.config or (Path(environment[CONFIG]) if environment.get(CONFIG) else None)
    known = config.read(file).models if file else PATIENT
    told: dict[str, Any] = {}
    if wish.base_url or wish.api or wish.key_env or known.route(wish.model) is None:
        told["routes"] = [_route(wish, environment), *known.routes]
    if wish.price:
        told["prices"] = [_price(wish.model, wish.price), *known.prices]
    return known.model_copy(update=told)


def _route(wish: ModelWish, environment: Mapping[str, str]) -> Route:
    """Where to ask. The key of a provider is shown to that provider and to nobody else."""
    is_claude = wish.model.startswith("claude") and wish.base_url is None
    api: Api = wish.api or ("anthropic" if is_claude else "openai")
    own = KEY if environment.get(KEY) else None if wish.base_url else KEYS[api]
    try:
        return Route(match=glob.escape(wish.model), api=api, base_url=wish.base_url, key_env=wish.key_env or own)
    except ValidationError as error:
        raise CannotStart(f"The model cannot be asked: {complaint(error)}.") from None


def _price(model: str, told: str) -> Price:
    try:
        asked, answered = map(float, told.split("/"))
        return Price(match=glob.escape(model), input=asked, output=answered)
    except ValueError:
        raise CannotStart("A price is USD per million tokens of questions and of answers, as 3/15.") from None


def _read(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
