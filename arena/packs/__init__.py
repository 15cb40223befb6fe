"""Challenge packs: YAML bundles with cases and an evaluation spec, read, checked and scored without a server."""
