"""The shape of an adapter: it runs one vector's input and answers in the form that the vector expects."""

from collections.abc import Callable, Mapping
from typing import Any

Adapter = Callable[[Mapping[str, Any]], Any]  # keyed by the stem of a file, or a prefix of it that ends with _
