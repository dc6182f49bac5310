"""The MetaData of the tables of knowledge."""

from __future__ import annotations

from sqlalchemy import MetaData

metadata = MetaData()
