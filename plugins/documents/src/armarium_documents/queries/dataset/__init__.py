"""The dataset query (A 4.2): by SQL over a small folder, from columns held in memory over a large one."""
