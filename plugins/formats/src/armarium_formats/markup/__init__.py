"""What the XML formats of pages share: profiles, schemas made of them, fragments that are kept, ids, notes."""
