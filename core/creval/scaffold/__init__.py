"""What `creval new` writes: a whole plugin, or a task file with its data."""
