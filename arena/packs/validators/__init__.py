"""The validators of a spec."""
