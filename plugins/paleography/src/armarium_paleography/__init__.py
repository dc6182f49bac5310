"""Campaigns, editorial facts, hands, signs, letterforms and fonts."""
