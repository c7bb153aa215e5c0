"""What a run would take, before it is made."""
