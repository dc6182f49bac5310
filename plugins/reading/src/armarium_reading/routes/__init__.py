"""HTTP of reading that is neither an action nor a query of a project."""
