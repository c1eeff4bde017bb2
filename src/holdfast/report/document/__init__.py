"""The document: all that a page shows, as one plain JSON object. The renderer in `report/site` shows it."""
