"""Programs that play over the wire like anybody else."""
