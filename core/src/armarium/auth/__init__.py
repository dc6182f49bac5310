"""Who may do what: principals by token, pairing, sessions, presence, rate limit, folders granted by the owner."""
