"""Plugins and drivers: found, examined, tried in a process of their own, let in or refused."""
