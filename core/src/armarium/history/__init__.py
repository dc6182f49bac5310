"""What every step changed: capture by triggers, the audit log, row images, and the schema that contains them."""
