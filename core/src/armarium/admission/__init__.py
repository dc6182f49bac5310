"""Letting plugins in: what is installed, what is wrong with it, and the trial it passes in a process of its own.

`offers` finds what is installed; `faults` looks at what a plugin declares, `beside` at how it stands to others; `trial` is
the process that puts it through everything in empty databases, `processes` starts it and says whose fault it is when it
does not end well; `trials` keeps the verdicts; `checking` tries what is not installed; `scaffold` writes a new family.
"""
