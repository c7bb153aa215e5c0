"""Open-ended creativity: semantic entropy over step-by-step sampling, and a jury of analysts (plugin `openended`).

Import from the modules; nothing is imported here, so that finding the plugin costs nothing.

entropy       classes of meaning, estimators of their entropy, surface measures of the same candidates
"""
