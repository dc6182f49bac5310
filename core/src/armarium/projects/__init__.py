"""Projects on disk: packages created, opened, locked, registered, copied, examined."""
