"""What a job shares with the other jobs of a machine or a file system: locks and GPUs."""
