"""TEI P5: the reader of facsimiles, source documents and texts with milestones, and the writer of our profile."""
