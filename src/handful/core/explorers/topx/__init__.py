"""TopX, the paper's Algorithm 2."""
