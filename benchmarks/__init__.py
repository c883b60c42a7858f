"""Speed and memory of skfedauc and of its peers: ``python -m benchmarks``."""
