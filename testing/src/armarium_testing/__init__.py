"""The testing kit: fixtures and suites that check the core, its families and third-party plugins."""
