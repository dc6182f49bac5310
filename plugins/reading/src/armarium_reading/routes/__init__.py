"""Routes of reading that are neither an action nor a query of a project."""
