"""The configs of validators: their shapes, their defaults, and reading them from what an author wrote."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails


class BadConfig(ValueError):
    """A config that does not have the shape of its type."""


def _filled(value: Any) -> Any:
    return "" if value is None else value


Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Text = Annotated[str, BeforeValidator(_filled)]


class Config(BaseModel):
    """A config with known keys only; null means unset, except for members that may hold any JSON."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
    opaque: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _unset(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        return {key: value for key, value in raw.items() if value is not None or key in cls.opaque}

    @classmethod
    def read(cls, raw: Any) -> Self:
        """Read what an author wrote; no config at all means every default."""
        try:
            return cls.model_validate({} if raw is None else raw)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise BadConfig(cls._explained(first)) from None

    @classmethod
    def _explained(cls, error: ErrorDetails) -> str:
        where = ".".join(map(str, error["loc"]))
        if error["type"] != "extra_forbidden":
            return f"{where}: {error['msg']}" if where else error["msg"]
        near = get_close_matches(where, cls.model_fields, n=1)
        return f"it has no key {where!r:.80}" + (f"; did you mean {near[0]!r}?" if near else "")

    def given(self, name: str) -> bool:
        """Whether the author wrote a key."""
        return name in self.model_fields_set


class Lenient(Config):
    """A config in which unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, allow_inf_nan=False)


class FuzzyConfig(Config):
    """How alike two texts must be."""

    threshold: float = 0.8
    case_insensitive: bool = False
    normalize: bool = False


class NumericConfig(Config):
    """How far two numbers may be apart."""

    absolute_tolerance: float | None = None
    relative_tolerance: float | None = None
    extract_number: bool = False
    significant_digits: Whole | None = None
    tolerance_mode: str | None = None
    tolerance: float | None = None

    @classmethod
    def read(cls, raw: Any) -> Self:
        """Read a config, the old names of the tolerances included."""
        config = super().read(raw)
        if not config.tolerance_mode and config.tolerance is None:
            return config
        if config.absolute_tolerance is not None or config.relative_tolerance is not None:
            raise BadConfig("tolerance_mode and tolerance cannot be mixed with absolute_ or relative_tolerance")
        mode = config.tolerance_mode or "relative"
        if mode not in {"absolute", "relative"}:
            raise BadConfig("tolerance_mode must be absolute or relative")
        amount = 0.001 if config.tolerance is None else config.tolerance
        return config.model_copy(update={f"{mode}_tolerance": amount})


class NormalizedConfig(Config):
    """Which steps bring two texts into one form."""

    pipeline: list[Text] = []
    normalizations: list[Text] = []

    @classmethod
    def read(cls, raw: Any) -> Self:
        """Read a config; the two names of the list exclude each other."""
        config = super().read(raw)
        if config.pipeline and config.normalizations:
            raise BadConfig("pipeline cannot be mixed with normalizations")
        return config

    @property
    def steps(self) -> list[str]:
        """The steps to take, in order."""
        return self.pipeline or self.normalizations or ["trim", "lowercase", "collapse_whitespace"]


class TokenConfig(Config):
    """How the tokens of two texts are counted."""

    threshold: float = 0.5
    normalize: bool = False
    remove_articles: bool = False
    remove_punctuation: bool = False


class OverlapConfig(Config):
    """What the n-gram scores share."""

    threshold: float = 0.3
    normalize: bool = False
    case_insensitive: bool = False


class BleuConfig(OverlapConfig):
    """How BLEU is computed."""

    max_ngram: Whole = 4
    smoothing: str = "none"


class RougeConfig(OverlapConfig):
    """How ROUGE is computed."""

    variant: str = "rouge-l"
    beta: float = 1


class ChrfConfig(OverlapConfig):
    """How chrF is computed."""

    char_order: Whole = 6
    beta: float = 2


class MathConfig(Config):
    """How two expressions are compared."""

    comparison_mode: str = "symbolic"
    numeric_fallback: bool = True
    tolerance: float = 1e-6
    extract_answer: bool = False
    answer_delimiter: str = "####"


class ExecutionConfig(Config):
    """What runs in the sandbox and how its result is scored."""

    test_command: str = ""
    timeout_ms: Whole = 30_000
    scoring: str = "fraction_passed"
    pass_threshold: float = 1


class ToolCallConfig(Config):
    """Which tool calls a run must or must not contain."""

    opaque = frozenset({"arguments_contain"})

    tool_name: str = ""
    must_call: bool | None = None
    count: Whole | None = None
    min_count: Whole | None = None
    max_count: Whole | None = None
    arguments_contain: Any = None
    ordered_tools: list[Text] = []
    order_mode: str = ""


class PostconditionConfig(Config):
    """What must hold for a captured file."""

    opaque = frozenset({"value"})

    condition: str = ""
    value: Any = None
    json_path: str = ""


class ExistsConfig(Lenient):
    """Whether a file should be there."""

    must_exist: bool = True


class ContentConfig(Lenient):
    """How the content of a file is compared."""

    match_mode: str = "contains"
    ignore_whitespace: bool = False


class FileSchemaConfig(Lenient):
    """The schema of a file."""

    opaque = frozenset({"schema"})

    schema_: Any = Field(default=None, alias="schema")


class DirectoryConfig(Lenient):
    """What a directory must and must not hold."""

    required_files: list[Text] = []
    forbidden_files: list[Text] = []
    required_directories: list[Text] = []
