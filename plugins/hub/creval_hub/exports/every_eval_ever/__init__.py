"""A run in the form of Every Eval Ever, schema 0.3.0: an aggregate file a task, and its samples beside it.

The two JSON Schemas in `schemas/` are those of the package every-eval-ever 0.3.0 (MIT licence, beside them).
"""
