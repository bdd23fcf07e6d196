from __future__ import annotations

from pathlib import Path

import pytest

from handful.errors import InvalidCollection
from handful.images import load_csv


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
