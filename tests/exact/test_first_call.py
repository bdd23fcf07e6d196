"""Small work needs no compiler: the first call in a new process is quick."""

from __future__ import annotations

import subprocess
import sys

from tests.pace import slowness

FIRST = """
import sys, time
begun = time.process_time()
import numpy as np
import handful
from handful.objectives import FacilityLocation, FeatureBased
features = np.random.default_rng(0).random((500, 32))
found = handful.maximize(FacilityLocation.from_features(features), 20)
handful.maximize(FeatureBased(features), 20)
assert len(found.chosen) == 20
print(time.process_time() - begun)
assert "numba" not in sys.modules
assert "scipy" not in sys.modules
"""


def test_the_first_call_with_500_items_takes_less_than_a_second_and_no_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.0 * slowness()


LARGER = """
import sys
import numpy as np
import handful
from handful.objectives import FacilityLocation, FeatureBased
table = np.random.default_rng(0).random((1100, 1000))
first = handful.maximize(FacilityLocation(table), 5)
assert "numba" not in sys.modules
assert handful.maximize(FacilityLocation(table), 5).indices == first.indices
assert "numba" in sys.modules
"""


def test_the_first_large_run_of_a_process_does_not_compile_and_the_second_picks_the_same() -> None:
    subprocess.run([sys.executable, "-c", LARGER], check=True)
