"""KUMO: generated reasoning games with provably optimal play (plugin `kumo`)."""
