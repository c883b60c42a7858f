"""Speed and memory of skfedauc next to its peers: ``python -m benchmarks``."""
