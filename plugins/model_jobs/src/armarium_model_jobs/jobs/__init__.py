"""One module for each kind of work; all of them use `asking`."""
