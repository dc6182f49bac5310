"""What runs where shards are sent: reads one or trains with its lines, through the same workers as on the engine's machine.

Standard library only, beside `armarium_worker`; it is sent along with the work.
"""
