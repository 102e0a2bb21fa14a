"""Plain least squares and a table of errors by size of flat, to judge the network against."""
import numpy as np


class LeastSquares:
    def fit(self, x, y):
        design = np.column_stack([np.ones(len(x)), x])
        self.coef, *_ = np.linalg.lstsq(design, np.ravel(y), rcond=None)
        return self

    def predict(self, x):
        return np.column_stack([np.ones(len(x)), x]) @ self.coef


def size_bands(area, edges=(0, 45, 70, 100, np.inf)):
    for low, high in zip(edges[:-1], edges[1:]):
        label = f"{low:.0f} to {high:.0f} m2" if np.isfinite(high) else f"over {low:.0f} m2"
        yield label, (area >= low) & (area < high)


def error_table(area, rent, columns):
    rent = np.ravel(rent)
    lines = ["flat".ljust(16) + "".join(name.rjust(12) for name in columns)]
    for label, rows in size_bands(area):
        if not rows.any():
            continue
        cells = [np.abs(np.ravel(est)[rows] - rent[rows]).mean() for est in columns.values()]
        lines.append(label.ljust(16) + "".join(f"{c:12.0f}" for c in cells))
    return "\n".join(lines)
