"""Long work of documents: importing files and drawing thumbnails."""
