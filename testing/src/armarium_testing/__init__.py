"""The testing kit: fixtures, suites and sample pages that prove the core, its families and a stranger's plugin."""
