"""The version of this arena, told to clients and recorded in every game."""

__version__ = "0.1.0"
