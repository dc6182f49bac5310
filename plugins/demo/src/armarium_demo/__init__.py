"""The demonstration: the main job from beginning to end, as one command."""
