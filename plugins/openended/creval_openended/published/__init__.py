"""The paper's own problems, fetched from where their makers publish them, pinned; nothing of them is bundled."""
