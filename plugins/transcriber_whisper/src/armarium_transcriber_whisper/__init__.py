"""Whisper models as a transcriber, through faster-whisper in a runtime of their own."""
