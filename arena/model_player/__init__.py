"""Language models as players: one seat, a model that decides by tool calls, and a purse that is never overdrawn."""
