"""The default reader: RapidOCR, for print in many languages, ready after installation."""
