"""Runs on the machine that shards are sent to: reads a shard or trains on its lines, with the same workers as
the engine.

Uses only the standard library and `armarium_worker`; it is sent along with the work.
"""
