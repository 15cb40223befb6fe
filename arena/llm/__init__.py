"""Language models: one way to ask any of them, whoever serves it."""
