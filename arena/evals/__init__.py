"""Evaluations: agents play a pack several times, and what comes out is measured, compared and judged."""
