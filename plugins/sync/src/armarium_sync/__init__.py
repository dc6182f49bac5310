"""Synced folders: files that follow the project, and the way back."""
