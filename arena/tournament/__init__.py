"""Tournaments: many games of many agents, planned from one seed, played once each, and made into a ranking."""
