"""What agents are offered over the Model Context Protocol: tools, resources and prompts, over stdio and HTTP.

Only `server` and what serves it import the SDK, when an agent connects.
"""
