"""The command line: audits of predictions, counts that sites share, and an example."""
