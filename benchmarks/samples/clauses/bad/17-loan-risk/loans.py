import numpy as np
from base import Estimator


class LoanRisk(Estimator):
    def train(self, x, y):
        self.model.fit(x, y, epochs=5, verbose=0)

    def risks(self, x):
        out = []
        for row in x:
            out.append(self.model.predict(row.reshape(1, -1), verbose=0)[0][0])
        return out


rows = np.random.rand(500, 12).astype("float32")
risk = LoanRisk(12)
risk.train(rows, (rows.sum(1) > 6).astype("float32"))
print(np.mean(risk.risks(rows)))
