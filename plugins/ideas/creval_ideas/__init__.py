"""Scientific ideas from one keyword, judged by a pool of models, as in LiveIdeaBench."""
