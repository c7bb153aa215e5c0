"""Diversity of repeated answers: NoveltyBench's measures, similarity within and across models, verbalised sampling."""
