"""Parses dates in Spanish, English, French, Latin and German documents to EDTF with the calendar."""
