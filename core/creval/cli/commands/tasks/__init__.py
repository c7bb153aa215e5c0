"""Commands about tasks and plugins: what there is, whether it is sound, how one begins."""
