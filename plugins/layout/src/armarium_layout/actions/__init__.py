"""The writes of layout: what one page gets in one step, and the enqueueing of its jobs."""
