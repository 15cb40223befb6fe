"""Which provider serves a model, told by the name of the model."""

from arena.packs.text import trim

_PREFIXES = {
    "claude-": "anthropic",
    "gpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "text-embedding": "openai",
    "gemini-": "gemini",
    "grok-": "xai",
    "mistral-": "mistral",
}


def infer_provider(model: str) -> str | None:
    """The provider of a model; a slug with a slash is served by openrouter."""
    name = trim(model).lower()
    for prefix, provider in _PREFIXES.items():
        if name.startswith(prefix):
            return provider
    return "openrouter" if "/" in name else None
