"""Dates as documents write them, in Spanish, English, French, Latin and German, to EDTF with the calendar."""
