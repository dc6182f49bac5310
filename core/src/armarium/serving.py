"""What commands use of the engine when they run one in their own process; imported late, because it loads the whole
engine.
"""

from armarium.engine import Engine
from armarium.projects.doctor import examine
from armarium.web.app import create_app
from armarium.web.serving import serve, write_to_log

__all__ = ["Engine", "create_app", "examine", "serve", "write_to_log"]
