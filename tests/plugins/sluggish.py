"""Sluggish: a challenge whose one move takes its time, so that something can happen meanwhile."""

import threading
import time
from random import Random

from arena import Effects, Model, Operator, Seat, action, say

begun = threading.Event()


class Nothing(Model):
    pass


class Sluggish(Operator[Nothing]):
    players = 1

    def deal(self, rng: Random) -> Nothing:
        return Nothing()

    @action
    def crawl(self, nothing: Nothing, seat: Seat) -> Effects:
        """Get there in the end."""
        begun.set()
        time.sleep(0.5)  # blocks the whole server, as no challenge should
        yield say("There.")
