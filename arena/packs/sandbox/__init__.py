"""Sandboxes: where the tools of native packs run, and what is left of their work."""
