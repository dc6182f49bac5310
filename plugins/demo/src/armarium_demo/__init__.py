"""The demonstration: the main job from end to end, as one command."""
