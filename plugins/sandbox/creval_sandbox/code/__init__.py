"""Tasks whose answers are programs: the parser `program` and the scorer `code`. See docs/code-tasks.md."""
