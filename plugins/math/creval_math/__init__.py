"""Mathematical expressions in answers: read and compared with math-verify."""
