"""A run in the form of Every Eval Ever, schema 0.3.0: one aggregate file per task, with its samples next to it.

The two JSON Schemas in `schemas/` are those of the package every-eval-ever 0.3.0 (MIT licence, in the same folder).
"""
