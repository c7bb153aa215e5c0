"""Commands that look at runs: results, samples, pages, comparisons."""
