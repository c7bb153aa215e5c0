"""CreativityPrism: the tasks of arXiv:2510.20091v2 that can be had, and its dimensions over a run."""
