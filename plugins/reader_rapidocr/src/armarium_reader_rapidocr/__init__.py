"""The default reader: RapidOCR, print in many languages, works right after install."""
