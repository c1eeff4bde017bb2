"""Signatures of row pairs, counted, and minimal hitting sets over them. No class of rule is known here."""
