"""Searchable PDF: the pictures as they are, and the text invisible behind them, each word where it stands."""
