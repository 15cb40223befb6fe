"""Takes the server's secrets out of whatever an agent or a log gets to see."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

HIDDEN = "[secret]"
_SHORT = 4  # a shorter value would be found by chance, and is no secret


def scrub(value: Any, secrets: Mapping[str, str]) -> Any:
    """The same value without any secret, also where it was written in another usual way."""
    spelled = {spelling for secret in secrets.values() if len(secret) >= _SHORT for spelling in _spellings(secret)}
    if not spelled:
        return value
    return _cleaned(value, re.compile("|".join(sorted(spelled, key=len, reverse=True))))


def _spellings(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    plain = (secret, quote(raw, safe=""), quote(raw), quote_plus(raw), json.dumps(secret)[1:-1])
    yield from map(re.escape, (*plain, json.dumps(secret, ensure_ascii=False)[1:-1]))
    yield f"(?i:{raw.hex()})"
    # How a text looks in base64 depends on what stands around it, which shares the first and the last group.
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        whole = encoded[4 if shift else 0 : len(encoded) - len(encoded) % 4]
        if len(whole) >= _SHORT:
            sign = "[A-Za-z0-9+/_=-]{0,4}"
            safe = re.escape(whole).replace(r"\+", "[+-]").replace("/", "[/_]")
            yield f"{sign if shift else ''}{safe}{sign}"


def _cleaned(value: Any, spelled: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return spelled.sub(HIDDEN, value)
    if isinstance(value, Mapping):
        return {_cleaned(name, spelled): _cleaned(member, spelled) for name, member in value.items()}
    return [_cleaned(item, spelled) for item in value] if isinstance(value, list | tuple) else value
