"""Intervals, tests and agreement of AUCs; all of it read from a partial."""
