"""Shared by the XML formats of pages: profiles, schemas made from them, stored fragments, ids, notes."""
