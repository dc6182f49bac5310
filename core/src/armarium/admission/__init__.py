"""Letting plugins in: what is installed, what is wrong with it, and the trial it passes in a process of its own.

`faults` looks at what a plugin declares, `trial` is the process that puts it through everything in empty databases,
`trials` starts that process and keeps its verdicts, `checking` tries what is not installed, `scaffold` writes a new family.
"""
