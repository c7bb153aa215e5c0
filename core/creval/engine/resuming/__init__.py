"""What a run that is gone on with holds, and what it has used up."""
