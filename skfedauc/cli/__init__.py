"""The command line: an audit of a file of predictions, and an example without a file."""
