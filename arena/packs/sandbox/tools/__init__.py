"""The primitives that tools are made of."""
