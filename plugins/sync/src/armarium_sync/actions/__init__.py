"""The writes of synced folders."""
