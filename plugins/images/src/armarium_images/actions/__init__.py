"""The only writes of images, one file a subject."""
