TABLE = "data/prices.csv"
