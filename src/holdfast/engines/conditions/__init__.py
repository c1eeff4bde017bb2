"""What conditions on one row are true of: shared by rules about rows and tables, and by `where` of all classes."""
