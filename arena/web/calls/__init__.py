"""The requests of the protocol, whatever carries them: models of what is asked, functions that answer as plain data.

REST and MCP are doors onto these. What is refused raises an `ArenaError`; `web/errors.py` says how that is told.
"""
