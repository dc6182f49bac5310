"""The engine's settings: read once from the environment (SERVICE_…) or passed by whoever assembles an engine."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from armarium.engine_card import OF_THE_PLACE, TRIAL_SECONDS, VERDICTS

MIB = 1024 * 1024


def _state_dir() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("armarium", appauthor=False))


class Settings(BaseModel):
    """All settings of an engine. Sizes in bytes, times in seconds, images in pixels."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    def __init__(self, **given: Any) -> None:
        """Take what is *given*, and from the environment what is not; the case of a variable's name does not matter."""
        variables = {name.lower(): value for name, value in os.environ.items()}
        stated = {name: variables.get(f"service_{name}") for name in type(self).model_fields}
        super().__init__(**{name: value for name, value in stated.items() if value is not None} | given)

    state_dir: Path = Field(default_factory=_state_dir)
    """Where the engine keeps its own database, token file, socket and runtimes (platform convention)."""
    uds: Path | None = None
    """Listen on this Unix socket instead of TCP; its folder is made 0700."""
    host: str = "127.0.0.1"
    port: int = Field(default=8765, ge=0, le=65535)
    public_url: str | None = None
    """The address under which a reverse proxy on this machine offers the engine, such as https://archive.example."""
    library_roots: list[Path] = Field(default_factory=list)
    """Folders besides home, mounted volumes and the temporary folder that may hold projects (colon separated)."""
    open_project: Path | None = None
    """The one project that programs on this machine may look at without a token, at addresses made for them."""
    local_only: bool = False
    """Never use the network, whatever is requested."""
    compute_priority: Literal["fast", "balanced", "background"] | None = None
    compute_device: Literal["auto", "cpu", "gpu"] | None = None
    plugin_trials: Path | None = None
    """The file that keeps which plugins passed their trial; None: one in the state folder."""
    plugin_trial_seconds: float = Field(default=TRIAL_SECONDS, gt=0)
    """Seconds of processor time that one part of the trial of a plugin may use, and for which it may do nothing."""
    owner_token: str | None = Field(default=None, repr=False)
    rotate_token: bool = False
    max_image_pixels: int = Field(default=200_000_000, gt=0)
    cors_origins: list[str] = Field(default_factory=list)
    max_body_bytes: int = Field(default=32 * MIB, gt=0)
    max_upload_bytes: int = Field(default=2048 * MIB, gt=0)
    rest_seconds: float = Field(default=600.0, gt=0)
    """Seconds after the last request until a background engine stops, when no work is left."""

    def behaviour(self) -> dict[str, Any]:
        """Return as JSON the values that make a difference to what a command gets, for the engine's card."""
        values = self.model_dump(mode="json", exclude={name.lower() for name in OF_THE_PLACE})
        return {**values, "library_roots": [str(root.absolute()) for root in self.library_roots]}

    @property
    def verdicts(self) -> Path:
        """The file of the verdicts on plugins."""
        return self.plugin_trials or self.state_dir / VERDICTS

    @field_validator("library_roots", mode="before")
    @classmethod
    def _split_paths(cls, value: object) -> object:
        return [part for part in value.split(":") if part] if isinstance(value, str) else value

    @field_validator("public_url")
    @classmethod
    def _is_an_origin(cls, value: str | None) -> str | None:
        match = re.fullmatch(
            r"(https?://(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?)/?", (value or "").lower()
        )
        if value and match is None:
            raise ValueError("state scheme and name alone, such as https://archive.example")
        return match[1] if match else None

    @field_validator("cors_origins", mode="before")
    @classmethod
    def _split_words(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value
