"""Images: crops and splits of pictures as derived children of their source."""
