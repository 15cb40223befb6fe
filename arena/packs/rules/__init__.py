"""The rules of a bundle, each a generator of field errors; `validate_bundle` runs them all."""

from arena.packs.rules.bundle import validate_bundle
from arena.packs.rules.sandbox import check_run_env

__all__ = ["check_run_env", "validate_bundle"]
