"""tilesim hbm and tilesim validate: figures, JSON, traces, and bad input."""
