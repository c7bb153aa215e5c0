"""The paper's problems, fetched from their publishers at a pinned version; none are bundled."""
