"""The base of what requests and answers are made of."""

from __future__ import annotations

import warnings

from pydantic import BaseModel, ConfigDict
from pydantic.warnings import UnsupportedFieldAttributeWarning

# FastAPI silences this while it declares its routes; a body's validator is made later, when it is first used.
warnings.filterwarnings("ignore", "The 'alias' attribute with value", UnsupportedFieldAttributeWarning)


class Message(BaseModel):
    """A request's body or an answer, or a part of one.

    Its validator is made when it is first used: making all of them took a third of the time that the engine took to start.
    """

    model_config = ConfigDict(defer_build=True)
