"""Synced folders: files that follow the project, and back."""
