"""The writes of layout: what one page gets in one step, and putting its jobs in the queue."""
