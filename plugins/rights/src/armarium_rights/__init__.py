"""Who may see what of a project, and to which models it may be sent."""
