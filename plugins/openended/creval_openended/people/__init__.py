"""People in the judge's role: labels and ranks by the instructions of Appendix K, and their screens."""
