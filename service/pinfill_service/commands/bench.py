def bench(): pass
