"""Benchmarks: what a server does on this machine, beside raw baselines in the same run."""
