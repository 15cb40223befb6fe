"""The SDK: a guest of the arena like any player, with nothing that a stranger's client could not do."""

from arena.client.agent import Agent
from arena.client.arena import HERE, Arena
from arena.client.connection import Client, Frame, client
from arena.client.desk import Disconnected
from arena.client.feed import Ended, Event, Started, Watched
from arena.client.game import Game
from arena.client.house import Pause, at_once, play
from arena.client.place import Place
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
    "Event",
    "Frame",
    "Game",
    "Identity",
    "Pause",
    "Place",
    "Refused",
    "Started",
    "Watched",
    "at_once",
    "client",
    "play",
]
