from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from handful.errors import InvalidCollection
from handful.images import ImageCollection, load_csv
from handful.objectives import Coverage
from handful.venice import PICTURES, TOPIC_WEIGHTS, VeniceCrowd, themes, venice


def greedy(objective: Coverage, k: int) -> tuple[list[int], list[float]]:
    progress, gains = objective.start(), []
    for _ in range(k):
        best = int(progress.gains().argmax())
        gains.append(progress.gain(best))
        progress.add(best)
    return list(progress.chosen), gains


def share(collection: ImageCollection, tag: str, given: str | None = None) -> float:
    images = [image for image in collection.images if given is None or given in image.tags]
    return sum(tag in image.tags for image in images) / len(images)


def test_topic_weights_match_the_papers_footnote_in_expectation() -> None:
    weights = np.mean([venice(seed, n=2, model=5_000).weights for seed in range(8)], axis=0)
    assert weights == pytest.approx(list(TOPIC_WEIGHTS.values()), rel=0.04)
    assert weights.sum() == pytest.approx(20.0)


def test_the_weights_of_one_instance_scatter_around_the_footnote_as_350_images_do() -> None:
    weights = np.array(venice(3).weights)
    wanted = np.array(list(TOPIC_WEIGHTS.values()))
    assert 0.02 < np.abs(weights / wanted - 1.0).mean() < 0.3


def test_the_ground_set_is_thirty_images_of_venice_and_thirty_of_its_churches() -> None:
    collection = venice()
    assert collection.size == len(collection.ids) == len(set(collection.ids)) == 60
    assert all("church" in image.tags for image in collection.images if image.id.startswith("church"))
    assert sum(image.id.startswith("church") for image in collection.images) == 30
    assert sum("church" in image.tags for image in collection.images if image.id.startswith("venice")) < 10
    assert "church" not in collection.topics


def test_the_same_seed_gives_the_same_collection_and_another_seed_another() -> None:
    assert venice(7).images == venice(7).images
    assert venice(7).weights == venice(7).weights
    assert venice(7).images != venice(8).images


def test_seed_zero_is_the_collection_of_the_docs_wherever_it_is_drawn() -> None:
    first = venice(0).images[0]
    assert (first.id, first.tags, first.views) == ("venice-01", ("canal", "gondola", "blue"), 41)


def test_tags_that_belong_together_come_together() -> None:
    collection = venice(1, n=6_000)
    assert share(collection, "canal", given="gondola") > 2 * share(collection, "canal", given="art")
    assert share(collection, "blackwhite", given="bw") > 4 * share(collection, "blackwhite")
    assert share(collection, "mask", given="carnival") > 4 * share(collection, "mask")
    assert share(collection, "night", given="sunset") == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_every_image_has_one_to_eight_topics_and_few_have_many(seed: int) -> None:
    collection = venice(seed)
    counts = [sum(tag in collection.topics for tag in image.tags) for image in collection.images]
    assert min(counts) >= 1
    assert max(counts) <= 8
    assert 1.5 < np.mean(counts) < 3.5


@pytest.mark.parametrize("seed", range(5))
def test_six_images_of_sixty_are_a_problem_worth_solving(seed: int) -> None:
    objective = venice(seed).objective
    _, gains = greedy(objective, 6)
    singles = objective.start().gains()
    assert 4.0 < sum(gains) < 8.0
    assert gains[-1] < 0.75 * gains[0]
    assert singles.max() > 3 * np.quantile(singles, 0.1)


def test_views_are_log_normal() -> None:
    logs = np.log([image.views for image in venice(0, n=4_000).images])
    assert np.median(logs) == pytest.approx(np.log(150), abs=0.1)
    assert logs.std() == pytest.approx(1.3, abs=0.1)


@pytest.mark.parametrize("n", [1, 2, 61, 1_000])
def test_any_number_of_images_can_be_had(n: int) -> None:
    collection = venice(n=n)
    assert collection.size == collection.objective.size == n
    assert len(set(collection.ids)) == n


@pytest.mark.parametrize(
    ("wrong", "message"), [({"n": 0}, "n is 0"), ({"model": 0}, "model is 0"), ({"seed": -1}, "seed is -1")]
)
def test_impossible_wishes_are_named(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidCollection, match=message):
        venice(**wrong)


def test_themes_want_different_images_of_the_same_collection() -> None:
    collection = venice(0)
    objectives = themes(collection)
    picks = {theme: set(greedy(objective, 6)[0]) for theme, objective in objectives.items()}
    assert list(picks) == ["Venice", "Venice Carnival", "Venice Cathedrals"]
    assert objectives["Venice"] is collection.objective
    assert all(objective.weights.sum() == pytest.approx(20.0) for objective in objectives.values())
    tagged = {theme: [collection.images[item].tags for item in items] for theme, items in picks.items()}
    assert all({"carnival", "mask", "costume"} & set(tags) for tags in tagged["Venice Carnival"])
    assert all({"church", "cathedral", "dome"} & set(tags) for tags in tagged["Venice Cathedrals"])
    assert not picks["Venice Carnival"] & picks["Venice Cathedrals"]


def test_a_collection_without_churches_has_no_theme_of_cathedrals(tmp_path: Path) -> None:
    table = tmp_path / "photos.csv"
    table.write_text("id,tags,views\na,mask,10\nb,carnival,20\n")
    with pytest.raises(InvalidCollection, match="'Venice Cathedrals': tag some with church or cathedral"):
        themes(load_csv(table))


def test_each_image_has_its_picture_and_no_two_are_alike() -> None:
    assert {path.stem for path in PICTURES.glob("*.webp")} == set(venice().ids)
    seen = set()
    for id_ in venice().ids:
        with Picture.open(PICTURES / f"{id_}.webp") as picture:
            assert (picture.format, picture.size) == ("WEBP", (640, 480))
            pixels = np.asarray(picture.convert("RGB"), dtype=np.float64)
        assert pixels[20:420, 30:610].std() > 20
        seen.add(pixels.tobytes())
    assert len(seen) == 60


def test_the_table_beside_the_pictures_loads_as_the_collection() -> None:
    assert load_csv(PICTURES / "tags.csv").images == venice().images


@pytest.mark.parametrize("tag", ["bw", "blackwhite"])
def test_pictures_tagged_black_and_white_have_no_colour(tag: str) -> None:
    tagged = [image.id for image in venice().images if tag in image.tags and "blue" not in image.tags]
    assert tagged
    for id_ in tagged:
        with Picture.open(PICTURES / f"{id_}.webp") as picture:
            red, green, blue = np.moveaxis(np.asarray(picture.convert("RGB"), dtype=np.float64)[20:420, 30:610], 2, 0)
        assert max(np.abs(red - green).mean(), np.abs(green - blue).mean()) < 12


def test_the_pictures_are_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 1_000_000


def test_people_compare_by_what_a_picture_adds_to_the_theme_so_far() -> None:
    collection = venice()
    crowd = VeniceCrowd(collection, {"own": "Venice", "masks": "Venice Carnival"})
    objective, (first, second, given) = collection.objective, (3, 40, 7)
    names = [f"{collection.ids[item]}.webp" for item in (first, second, given)]
    progress = objective.start()
    assert crowd("own", (), names[0], names[1]) == progress.gain(first) - progress.gain(second)
    progress.add(given)
    assert crowd("own", (names[2],), names[0], names[1]) == progress.gain(first) - progress.gain(second)
    assert crowd.value("own", (names[2],)) == progress.value
    assert crowd("masks", (), names[0], names[1]) != crowd("own", (), names[0], names[1])
