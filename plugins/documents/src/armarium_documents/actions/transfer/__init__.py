"""Transfer between projects: the plan, the copy in parts, the two steps that undo takes back, what a crash left."""
