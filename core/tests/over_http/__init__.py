"""The core over HTTP: what every route promises, and each subject on its own."""
