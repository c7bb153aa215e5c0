"""What a command shows: progress while a run goes on, notes and the end of it."""
