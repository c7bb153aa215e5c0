"""Who carries out the samples of a run: the loop of this process, or workers elsewhere that an executor leads."""
