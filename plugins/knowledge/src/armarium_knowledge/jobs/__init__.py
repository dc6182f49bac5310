"""Background work of knowledge: names, statements, dates, authorities, descriptions, passages, and entities
that may be the same.
"""
