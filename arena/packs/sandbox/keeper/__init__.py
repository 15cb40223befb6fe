"""The keeper of one sandbox: a program of its own that knows the standard library and nothing of the arena."""
