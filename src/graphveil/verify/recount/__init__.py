"""What is recounted of released data: equal rows, look-alikes, shapes."""
