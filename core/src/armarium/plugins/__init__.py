"""Plugins and drivers: discovered, examined, tried in a separate process, loaded or refused."""
