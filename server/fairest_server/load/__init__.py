"""The load generator: players who race against a deployment, for `fairest-server load` and for the benchmarks."""
