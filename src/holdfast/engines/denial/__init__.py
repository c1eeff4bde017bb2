"""Denial constraints: rules such as `not(t.Zip = s.Zip and t.City != s.City)`, and the row pairs that break them."""
