"""Projects on disk: packages made, opened, locked, registered, copied, examined."""
