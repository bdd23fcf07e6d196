"""Which eight pixels tell the digits apart? SequentialSelector against scikit-learn's SequentialFeatureSelector.

python examples/feature_selection.py [--seeds 3] [--first-seed 0] [--peer-seeds 1] [--columns 8] [--output features.png]

Both pick greedily for the same model (naive Bayes). SequentialFeatureSelector fits every candidate five times for every
pick. SequentialSelector asks for one random split at a time and asks again only where it matters. The score is the mean
accuracy of cross-validation with folds that neither has seen.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from handful.sklearn import SequentialSelector

FOLDS = 5


def score(X: np.ndarray, y: np.ndarray, support: np.ndarray) -> float:
    """Accuracy with these columns, on folds of its own."""
    folds = [StratifiedKFold(FOLDS, shuffle=True, random_state=1000 + n) for n in range(4)]
    return float(np.mean([cross_val_score(GaussianNB(), X[:, support], y, cv=cv) for cv in folds]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--peer-seeds", type=int, default=1)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--output", default="features.png")
    options = parser.parse_args(arguments)
    X, y = load_digits(return_X_y=True)
    X = X[:, X.std(axis=0) > 0]
    size, k = X.shape[1], options.columns
    warnings.simplefilter("ignore", RuntimeWarning)  # naive Bayes on a column that is constant within a split
    ours: list[tuple[int, float]] = []
    theirs: list[tuple[int, float]] = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        selector = SequentialSelector(GaussianNB(), k, random_state=seed).fit(X, y)
        ours.append((selector.n_fits_, score(X, y, selector.support_)))
    for seed in range(options.first_seed, options.first_seed + options.peer_seeds):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        peer = SequentialFeatureSelector(GaussianNB(), n_features_to_select=k, cv=folds).fit(X, y)
        theirs.append((FOLDS * sum(size - n for n in range(k)), score(X, y, peer.support_)))
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for name, found in (("handful's SequentialSelector", ours), ("SequentialFeatureSelector(cv=5)", theirs)):
        fits, scores = np.array(found).T
        print(f"{name}: {fits.mean():,.0f} fits, accuracy {scores.mean():.3f} (least {scores.min():.3f})")
        axes.scatter(fits, scores, label=name)
    axes.set(xlabel="fits", ylabel=f"accuracy with {k} of {size} pixels", xlim=(0, None))
    axes.legend()
    figure.savefig(options.output, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
