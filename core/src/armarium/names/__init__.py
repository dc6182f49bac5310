"""Names that people give: in NFC, with folded letters, in order."""
