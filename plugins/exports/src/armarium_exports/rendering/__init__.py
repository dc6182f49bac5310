"""Pages as files to be read: text, Markdown, Word, and the layout formats through their exporter."""
