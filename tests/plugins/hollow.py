"""Hollow: a module without any plugin."""
