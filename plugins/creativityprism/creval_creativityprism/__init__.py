"""CreativityPrism: the available tasks of arXiv:2510.20091v2, and its dimensions over a run."""
