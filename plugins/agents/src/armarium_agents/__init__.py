"""Workspaces: what people and agents work on together."""
