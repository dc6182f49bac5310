"""What is asked of the rows of jobs and of the audit log, by plugins too; nothing here writes.

What a connection hides from its caller is left out here as well.
"""
