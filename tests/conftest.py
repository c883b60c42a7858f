"""Because of this file, pytest puts `tests/` on the path: tests in subfolders import `oracles`."""
