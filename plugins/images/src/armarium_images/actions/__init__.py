"""The actions of images, one file per subject."""
