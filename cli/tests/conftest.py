"""Commands run here on a machine of their own: see `armarium_testing.command_line`."""

from armarium_testing.command_line import desk, machine, pictures, read_pages, serving, wills, world

__all__ = ["desk", "machine", "pictures", "read_pages", "serving", "wills", "world"]
