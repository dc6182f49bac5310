"""The refusals of the jobs that ask a model, one sentence each."""

from __future__ import annotations

from armarium.api import Invalid

prompt_needed = Invalid.saying("prompt_needed", "State in the setting prompt what the model is to be asked.")
columns_needed = Invalid.saying("columns_needed", "Name the columns of the table in the setting columns.")
column_twice = Invalid.saying("column_twice", "The column {name} is named twice; name each once.")
