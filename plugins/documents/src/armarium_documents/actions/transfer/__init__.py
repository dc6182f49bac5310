"""Transfer between projects: planning, copying in parts, the two undoable steps, recovery after a crash."""
