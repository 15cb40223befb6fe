"""The store: everything that lasts, behind the Redis protocol."""
