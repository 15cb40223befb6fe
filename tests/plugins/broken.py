"""Broken: a plugin that does not even import."""

raise RuntimeError("this plugin is broken on purpose")
