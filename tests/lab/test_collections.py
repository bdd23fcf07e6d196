from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handful.errors import InvalidCollection
from handful.lab.collections import TOPIC_WEIGHTS, ImageCollection, load_csv, themes, venice
from handful.objectives import Coverage


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
    collection = load_csv(write(tmp_path, "id,tags,views\na,mask,10\nb,carnival,20\n"))
    with pytest.raises(InvalidCollection, match="'Venice Cathedrals': tag some with church or cathedral"):
        themes(collection)


def write(folder: Path, text: str) -> Path:
    path = folder / "photos.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_own_table_is_built_the_same_way(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffViews, Tags ,ID,note\n100,Sea;sun,a.jpg,nice\n\n10,sea  sand sea,b.jpg,\n1,,c.jpg,\n")
    collection = load_csv(path)
    assert [(image.id, image.tags, image.views) for image in collection.images] == [
        ("a.jpg", ("sea", "sun"), 100.0),
        ("b.jpg", ("sea", "sand"), 10.0),
        ("c.jpg", (), 1.0),
    ]
    assert collection.topics == ("sea", "sand", "sun")
    assert collection.weights == (10.0, 5.0, 5.0)
    assert collection.objective.matrix.tolist() == [[1.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]


def test_weights_may_come_from_a_model_table_and_topics_by_name(tmp_path: Path) -> None:
    images = write(tmp_path, "id,tags,views\na,sea sun,9\n")
    model = tmp_path / "model.csv"
    model.write_text("id,tags,views\nx,sea,1\ny,sea,1\nz,sun rock,1\n")
    assert load_csv(images, model=model, topics=["Sun", "sea"]).weights == pytest.approx((20 / 3, 40 / 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column id and no column tags and no column views.*it names none"),
        ("id,views\na,1\n", "no column tags: its first line must name the columns id, tags, views; it names id, views"),
        ("id,tags,views\n", "has no images"),
        ("id,tags,views\na,sea,1\nb,sun,lots\n", "line 3 has the view count 'lots': give a number ≥ 0"),
        ("id,tags,views\na,sea,-1\n", "line 2 has the view count '-1'"),
        ("id,tags,views\na,sea,nan\n", "line 2 has the view count 'nan'"),
        ("id,tags,views\na,sea\n", "line 2 has 2 cells: it needs id, tags, views"),
        ("id,tags,views\n,sea,1\n", "line 2 has no id"),
        ("id,tags,views\na,sea,5\na,sun,5\n", "line 3 has the id 'a' of line 2"),
        ("id,tags,views\na,,5\nb, ;,5\n", "no tags at all"),
        ("id,tags,views\na,sea,1\n", "nothing to cover"),
    ],
)
def test_a_table_that_cannot_be_read_says_where_and_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidCollection, match=message):
        load_csv(write(tmp_path, text))


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidCollection, match=r"gone\.csv cannot be read"):
        load_csv(tmp_path / "gone.csv")
    picture = tmp_path / "picture.csv"
    picture.write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(InvalidCollection, match=r"picture\.csv cannot be read"):
        load_csv(picture)
