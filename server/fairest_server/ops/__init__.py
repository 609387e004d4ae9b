"""Running the server: supervised worker processes, metrics, faults, logs, limits of the operating system."""
