"""Judges: what they are asked, how their answers are read, and how many answers become one score.

All of it is pure but `run`, which asks models through whatever it is handed.
"""
