"""What is on disk: the database with its one writer and many readers, content-addressed files, kinds of tables."""
