"""What users hold: what the verbs of `api/` give, as values that print themselves and give JSON, Arrow and pandas."""
