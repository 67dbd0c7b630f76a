def batch(): pass
