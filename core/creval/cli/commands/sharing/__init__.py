"""Commands that bring runs to others, and back."""
