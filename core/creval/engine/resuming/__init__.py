"""What a resumed run holds, and what it has used up."""
