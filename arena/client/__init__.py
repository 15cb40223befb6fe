"""The SDK: a guest of the arena like any player, with nothing that a stranger's client could not do."""

from arena.client.agent import Agent
from arena.client.arena import HERE, Arena, Disconnected
from arena.client.connection import Client, Frame, client
from arena.client.game import Ended, Game, Started
from arena.client.house import Pause, at_once, play
from arena.errors import Refused
from arena.identity import Identity
from arena.models import ChatMessage

__all__ = [
    "HERE",
    "Agent",
    "Arena",
    "ChatMessage",
    "Client",
    "Disconnected",
    "Ended",
    "Frame",
    "Game",
    "Identity",
    "Pause",
    "Refused",
    "Started",
    "at_once",
    "client",
    "play",
]
