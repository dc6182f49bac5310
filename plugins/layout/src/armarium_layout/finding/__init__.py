"""Finding things on a picture: functions of arrays and boxes in pixels; no database, no files."""
