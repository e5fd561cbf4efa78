"""What `plot` is made of: results.py reads, tables.py and pictures.py write."""
