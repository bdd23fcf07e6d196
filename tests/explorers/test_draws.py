"""Draws are Philox4x32-10, uniform, and independent between seeds, rounds, streams and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from handful import draws
from handful.draws import ANSWER, ORDER, PICK, RIVAL, below, normals, philox, question_seed, uniforms, words
from tests.explorers.statistics import chi_square_z, correlation_z

SURE = 5.0  # standard deviations


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_philox_gives_the_published_answers(counter: str, key: str, expected: str) -> None:
    given = [np.uint64(int(word, 16)) for word in (counter + " " + key).split()]
    assert [f"{int(word):08x}" for word in philox(*given)] == expected.split()


def test_the_seed_is_the_key_and_number_round_and_stream_are_the_counter() -> None:
    seed, n = np.uint64(0x299F31D0_A4093822), np.uint64(0x85A308D3_243F6A88)
    first, second = words(seed, 0x13198A2E, 0x03707344, n)
    assert f"{int(first):016x}" == "d16cfe0994fdcceb"
    assert f"{int(second):016x}" == "5001e42024126ea1"


def test_every_part_of_the_counter_and_of_the_key_matters() -> None:
    base = (1, 2, 3, 4)
    others = [(2, 2, 3, 4), (1 + 2**32, 2, 3, 4), (1, 3, 3, 4), (1, 2, 4, 4), (1, 2, 3, 5), (1, 2, 3, 4 + 2**32)]
    assert len({uniforms(*point) for point in [base, *others]}) == 7


def test_streams_are_never_shared() -> None:
    streams = [getattr(draws, name) for name in ("PICK", "RIVAL", "QUESTION", "ANSWER", "BELIEF", "ORDER")]
    assert len(set(streams)) == len(streams)


def cells(sample: np.ndarray) -> list[int]:
    return np.histogram(sample, 64, (0.0, 1.0))[0].tolist()


@pytest.fixture(scope="module")
def sample() -> np.ndarray:
    return np.array([uniforms(7, 3, ANSWER, n) for n in range(20_000)])


def test_both_draws_are_uniform_on_the_open_interval(sample: np.ndarray) -> None:
    assert ((sample > 0.0) & (sample < 1.0)).all()
    assert abs(chi_square_z(cells(sample[:, 0]))) < SURE
    assert abs(chi_square_z(cells(sample[:, 1]))) < SURE


def test_a_slightly_bent_distribution_would_be_noticed(sample: np.ndarray) -> None:
    assert chi_square_z(cells(sample[:, 0] ** 1.1)) > SURE


def test_draws_are_independent_of_their_neighbours_in_every_direction(sample: np.ndarray) -> None:
    u = sample[:, 0]
    size = len(u)
    assert abs(correlation_z(u, sample[:, 1])) < SURE
    assert abs(correlation_z(u[:-1], u[1:])) < SURE
    for seed, round_, stream in ((8, 3, ANSWER), (7, 4, ANSWER), (7, 3, ORDER), (7 + 2**32, 3, ANSWER)):
        neighbour = np.array([uniforms(seed, round_, stream, n)[0] for n in range(size)])
        assert abs(correlation_z(u, neighbour)) < SURE
        pairs = np.histogram2d(u, neighbour, 8, ((0.0, 1.0), (0.0, 1.0)))[0]
        assert abs(chi_square_z(pairs.ravel())) < SURE


def test_a_weak_dependence_would_be_noticed(sample: np.ndarray) -> None:
    u, v = sample[:, 0], sample[:, 1]
    assert correlation_z(u, np.where(np.arange(len(u)) % 10 == 0, u, v)) > SURE


@pytest.mark.parametrize("limit", [1, 2, 3, 59])
def test_integers_below_a_limit_are_equally_likely(limit: int) -> None:
    drawn = [below(limit, 5, 1, RIVAL, n) for n in range(6000)]
    assert set(drawn) == set(range(limit))
    if limit > 1:
        assert abs(chi_square_z(np.bincount(drawn, minlength=limit))) < SURE


def test_normal_draws_have_the_moments_of_the_normal_distribution() -> None:
    pairs = np.array([normals(1, 1, PICK, n) for n in range(20_000)])
    for z in pairs.T:
        assert z.mean() == pytest.approx(0.0, abs=SURE / np.sqrt(len(z)))
        assert (z**2).mean() == pytest.approx(1.0, abs=SURE * np.sqrt(2 / len(z)))
        assert (z**4).mean() == pytest.approx(3.0, abs=SURE * np.sqrt(96 / len(z)))
        assert np.mean(np.abs(z) > 1.959964) == pytest.approx(0.05, abs=SURE * np.sqrt(0.05 * 0.95 / len(z)))
    assert abs(correlation_z(pairs[:, 0], pairs[:, 1])) < SURE


def test_question_seeds_are_63_bits_and_all_different() -> None:
    seeds = {question_seed(3, j, n) for j in range(1, 4) for n in range(3000)}
    assert len(seeds) == 9000
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert max(seeds) > 2**62
