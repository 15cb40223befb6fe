"""Adapters: challenges as environments of others, and environments of others as challenges. Each needs its extra."""
