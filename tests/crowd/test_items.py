"""What becomes an item, what is refused and why, and that no file can do harm on its way in."""

from __future__ import annotations

import hashlib
import struct
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import ExifTags, Image, ImageCms
from pillow_heif import register_heif_opener

from handful.crowd import decoding, sources
from handful.crowd.collection import Collection, load_collection
from handful.crowd.decoding import Decoder
from handful.crowd.intake import changes_since, ingest, number_of_items
from handful.crowd.sources import passed_over
from handful.errors import InvalidCollection
from tests.crowd.pictures import drawn, encoded, folder_of


def why(collection: Collection) -> dict[str, str]:
    return {one.name: one.why for one in collection.left_out}


def opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        picture.load()
        return picture


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few hundred bytes that says it is width × height."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = zlib.compress(b"\0" * 1_000_000, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def test_a_folder_becomes_a_collection_in_the_order_people_expect(tmp_path: Path) -> None:
    folder = folder_of(12, tmp_path / "photos")
    seen: list[tuple[int, int]] = []
    collection = ingest(folder, tmp_path / "items", lambda done, total: seen.append((done, total)))
    assert collection.ids == tuple(f"photo {n}.jpg" for n in range(12))
    assert seen == [(n, 12) for n in range(1, 13)]
    first = collection["photo 0.jpg"]
    assert opened(collection.large(first)).size == (first.width, first.height) == (320, 240)


def test_a_restart_finds_the_processed_collection_again(tmp_path: Path) -> None:
    made = ingest(folder_of(3, tmp_path / "photos"), tmp_path / "items")
    assert load_collection(tmp_path / "items") == made


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF"])
def test_the_four_formats_are_taken(tmp_path: Path, kind: str) -> None:
    for number in range(2):
        (tmp_path / f"{number}.{kind.lower()}").write_bytes(encoded(drawn(number), kind))
    collection = ingest(tmp_path, tmp_path / "out")
    assert len(collection) == 2
    assert opened(collection.large(collection.items[0])).format == "WEBP"


def test_only_the_first_frame_of_a_gif_is_shown(tmp_path: Path) -> None:
    folder_of(1, tmp_path)
    frames = [Image.new("RGB", (50, 50), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:], duration=100)
    collection = ingest(tmp_path, tmp_path / "out")
    red, _, blue = opened(collection.large(collection["moving.gif"])).convert("RGB").getpixel((25, 25))  # type: ignore[misc]
    assert red > 200
    assert blue < 60


def test_large_pictures_are_made_smaller_in_two_sizes(tmp_path: Path) -> None:
    folder_of(1, tmp_path)
    (tmp_path / "wide.jpg").write_bytes(encoded(drawn(5, (4000, 1000))))
    collection = ingest(tmp_path, tmp_path / "out")
    wide = collection["wide.jpg"]
    assert opened(collection.large(wide)).size == (1600, 400)
    assert opened(collection.thumbnail(wide)).size == (480, 120)


def test_where_a_picture_was_taken_does_not_go_through_and_it_stands_upright(tmp_path: Path) -> None:
    picture = Image.new("RGB", (300, 100), "white")
    picture.paste("black", (0, 0, 30, 100))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees
    exif[0x010E] = "taken at home, secret-marker"
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (45.0, 26.0, 3.0)
    folder_of(1, tmp_path)
    (tmp_path / "turned.jpg").write_bytes(encoded(picture, exif=exif))
    collection = ingest(tmp_path, tmp_path / "out")
    turned = collection["turned.jpg"]
    for path in (collection.large(turned), collection.thumbnail(turned)):
        shown = opened(path)
        assert shown.size == (100, 300)
        assert not dict(shown.getexif())
        assert b"secret-marker" not in path.read_bytes()
    top, bottom = (opened(collection.large(turned)).convert("L").getpixel((50, y)) for y in (5, 290))
    assert top < 50 < 200 < bottom  # type: ignore[operator]


def test_transparent_parts_become_paper(tmp_path: Path) -> None:
    folder_of(1, tmp_path)
    (tmp_path / "logo.png").write_bytes(encoded(Image.new("RGBA", (40, 40), (0, 0, 0, 0)), "PNG"))
    collection = ingest(tmp_path, tmp_path / "out")
    assert opened(collection.large(collection["logo.png"])).convert("RGB").getpixel((20, 20)) == (255, 255, 255)


def test_sixteen_bits_of_grey_keep_their_shades(tmp_path: Path) -> None:
    folder_of(1, tmp_path)
    Image.new("I;16", (40, 40), 128 * 256).save(tmp_path / "scan.png")
    collection = ingest(tmp_path, tmp_path / "out")
    level = opened(collection.large(collection["scan.png"])).convert("L").getpixel((20, 20))
    assert 124 <= level <= 132  # type: ignore[operator]


def test_a_colour_profile_is_applied_and_dropped_and_a_broken_one_ignored(tmp_path: Path) -> None:
    folder_of(1, tmp_path)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    (tmp_path / "tagged.jpg").write_bytes(encoded(Image.new("RGB", (40, 40), (200, 30, 30)), icc_profile=profile))
    (tmp_path / "lies.jpg").write_bytes(
        encoded(Image.new("RGB", (40, 40), (30, 200, 30)), icc_profile=b"not a profile")
    )
    collection = ingest(tmp_path, tmp_path / "out")
    shown = opened(collection.large(collection["tagged.jpg"]))
    assert "icc_profile" not in shown.info
    assert abs(shown.convert("RGB").getpixel((20, 20))[0] - 200) < 12  # type: ignore[index,operator]
    assert opened(collection.large(collection["lies.jpg"])).convert("RGB").getpixel((20, 20))[1] > 180  # type: ignore[index,operator]


def test_what_was_processed_before_is_not_taken_for_a_picture_of_the_folder(tmp_path: Path) -> None:
    folder_of(2, tmp_path)
    ingest(tmp_path, tmp_path / "here.db.items")
    again = ingest(tmp_path, tmp_path / "there.db.items")
    assert again.ids == ("photo 0.jpg", "photo 1.jpg")
    assert why(again) == {"5 hidden or system files": "were passed over: here.db.items/ (5 files)"}


def test_what_cannot_be_taken_is_named_with_a_helpful_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "heif_is_known", lambda: False)
    folder_of(2, tmp_path)
    svg = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    (tmp_path / "logo.svg").write_bytes(svg)
    (tmp_path / "disguised.png").write_bytes(svg)
    (tmp_path / "phone.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(100))
    (tmp_path / "phone.jpg").write_bytes(b"\0\0\0\x18ftypheic" + bytes(100))
    (tmp_path / "film.mp4").write_bytes(b"film")
    (tmp_path / "broken.jpg").write_bytes(encoded(drawn(7))[:400])
    (tmp_path / "more.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / ".DS_Store").write_bytes(b"junk")
    words = why(ingest(tmp_path, tmp_path / "out"))
    assert words["logo.svg"] == words["disguised.png"] == sources.ON_SVG
    assert words["phone.heic"] == words["phone.jpg"] == sources.ON_HEIC
    assert words["film.mp4"] == sources.ON_OTHERS
    assert words["more.zip"] == sources.ON_ARCHIVE
    assert "damaged" in words["broken.jpg"]
    assert ".DS_Store" not in words


def test_pictures_of_phones_are_taken_upright_and_without_what_they_know_of_where_they_were(tmp_path: Path) -> None:
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    turned[ExifTags.Base.Make] = "a phone of mine"
    wide = drawn(3, (320, 240))
    phone, renamed = as_heic(wide, exif=turned.tobytes()), as_heic(drawn(4))
    assert b"a phone of mine" in phone
    (tmp_path / "IMG_0001.HEIC").write_bytes(phone)
    (tmp_path / "called otherwise.jpg").write_bytes(renamed)
    (tmp_path / "broken.heic").write_bytes(phone[:300])
    collection = ingest(tmp_path, tmp_path / "out")
    assert set(collection.ids) == {"IMG_0001.HEIC", "called otherwise.jpg"}
    item = collection["IMG_0001.HEIC"]
    assert (item.width, item.height) == (240, 320)
    assert b"a phone of mine" not in collection.large(item).read_bytes()
    with Image.open(collection.large(item)) as shown:
        expected = wide.transpose(Image.Transpose.ROTATE_270).resize((8, 8)).tobytes()
        assert max(abs(a - b) for a, b in zip(shown.resize((8, 8)).tobytes(), expected, strict=True)) < 24
    assert "damaged" in why(collection)["broken.heic"] or "not a" in why(collection)["broken.heic"]


def as_heic(picture: Image.Image, **options: Any) -> bytes:
    register_heif_opener()
    return encoded(picture, "HEIF", **options)


def test_the_same_picture_twice_is_one_item_even_with_another_metadata(tmp_path: Path) -> None:
    folder_of(2, tmp_path)
    exif = Image.Exif()
    exif[0x010E] = "a copy"
    (tmp_path / "photo 9.jpg").write_bytes(encoded(drawn(1), exif=exif))
    collection = ingest(tmp_path, tmp_path / "out")
    assert len(collection) == 2
    assert why(collection) == {"photo 9.jpg": "is the same as photo 1.jpg"}


def test_of_the_same_pictures_the_one_is_kept_that_is_not_called_a_copy(tmp_path: Path) -> None:
    folder_of(2, tmp_path)
    beach, boat = encoded(drawn(7)), encoded(drawn(8))
    exif = Image.Exif()
    exif[0x010E] = "a copy"
    (tmp_path / "a copy (2).jpg").write_bytes(encoded(drawn(7), exif=exif))
    for name in ("Copy of beach.jpg", "beach.jpg", "the beach.jpg"):
        (tmp_path / name).write_bytes(beach)
    for name in ("boat (1).jpg", "boat.jpg"):
        (tmp_path / name).write_bytes(boat)
    collection = ingest(tmp_path, tmp_path / "out")
    assert set(collection.ids) == {"photo 0.jpg", "photo 1.jpg", "beach.jpg", "boat.jpg"}
    assert why(collection) == {
        "a copy (2).jpg": "is the same as beach.jpg",
        "Copy of beach.jpg": "is the same as beach.jpg",
        "the beach.jpg": "is the same as beach.jpg",
        "boat (1).jpg": "is the same as boat.jpg",
    }
    assert collection["beach.jpg"].uploaded == hashlib.sha256(beach).hexdigest()


def test_an_image_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    folder_of(2, tmp_path)
    (tmp_path / "bomb.png").write_bytes(bomb(30_000, 30_000))
    began = time.monotonic()
    assert "900 million pixels" in why(ingest(tmp_path, tmp_path / "out"))["bomb.png"]
    assert time.monotonic() - began < 20


def test_a_decoder_that_hangs_or_dies_costs_one_picture_only() -> None:
    slow = Decoder(timeout_s=0.0)
    try:
        with pytest.raises(InvalidCollection, match="took more than 0 seconds"):
            slow.decode(encoded(drawn(1)))
        slow.timeout_s = 30.0
        assert slow.decode(encoded(drawn(1))).width == 320
        assert slow._child is not None
        slow._child.kill()
        slow._child.wait()
        assert slow.decode(encoded(drawn(2))).width == 320
    finally:
        slow.close()


@pytest.mark.slow
def test_fifty_million_pixels_still_fit_in_the_decoder(tmp_path: Path) -> None:
    side = int(decoding.MAX_PIXELS**0.5)
    with_alpha = Image.new("RGBA", (side, side), (10, 20, 30, 128))
    worker = Decoder()
    try:
        assert worker.decode(encoded(with_alpha, "PNG", compress_level=1)).width == 1600
    finally:
        worker.close()


def test_hidden_and_system_files_are_named_in_one_line(tmp_path: Path) -> None:
    photos = folder_of(2, tmp_path / "photos")
    for name in (".hidden.jpg", "b/Thumbs.db", "old.items/1.jpg", "old.items/2.jpg", "desktop.ini", ".unfinished-1"):
        (photos / name).parent.mkdir(exist_ok=True)
        (photos / name).write_bytes(encoded(drawn(1)))
    left_out = ingest(photos, tmp_path / "items").left_out
    (line,) = left_out
    assert (line.name, line.files) == ("5 hidden or system files", 5)
    assert line.why == "were passed over: .hidden.jpg, b/Thumbs.db, desktop.ini, old.items/ (2 files)"
    assert load_collection(tmp_path / "items").left_out == left_out
    for picture in photos.glob("*.jpg"):
        picture.unlink(missing_ok=True)
    with pytest.raises(InvalidCollection, match="Left out: 4 hidden or system files were passed over"):
        number_of_items(photos)


def test_of_very_many_hidden_files_some_are_named_and_all_are_counted() -> None:
    many = [*(f"{folder}/.DS_Store" for folder in range(20_000)), *(f".git/{n}" for n in range(5)), "1.jpg"]
    (line,) = passed_over(many)
    assert (line.name, line.files) == ("20,005 hidden or system files", 20_005)
    assert line.why.startswith("were passed over: 0/.DS_Store, 1/.DS_Store, ")
    assert line.why.endswith(", 999/.DS_Store and 19,005 more")


def test_a_zip_is_read_without_ever_being_unpacked(tmp_path: Path) -> None:
    archive = tmp_path / "photos.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a/1.jpg", encoded(drawn(1)))
        out.writestr("../../../escaped.jpg", encoded(drawn(2)))
        out.writestr("/tmp/absolute.jpg", encoded(drawn(3)))
        out.writestr("C:\\windows\\evil.jpg", encoded(drawn(4)))
        out.writestr("__MACOSX/a/._1.jpg", b"junk")
        out.writestr("inner.zip", b"PK\x03\x04")
    before = {path for path in tmp_path.parent.rglob("*") if "items" not in path.parts}
    collection = ingest(archive, tmp_path / "items")
    after = {path for path in tmp_path.parent.rglob("*") if "items" not in path.parts}
    assert before == after
    assert set(collection.ids) == {"a/1.jpg", "escaped.jpg", "tmp/absolute.jpg", "C:/windows/evil.jpg"}
    assert why(collection) == {
        "inner.zip": sources.ON_ARCHIVE,
        "1 hidden or system file": "was passed over: __MACOSX/ (1 file)",
    }
    for path in (tmp_path / "items").iterdir():
        assert path.name == "manifest.json" or path.suffix == ".webp"


def test_a_zip_bomb_is_stopped_while_it_unpacks(tmp_path: Path) -> None:
    archive = tmp_path / "bomb.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for number in range(2):
            out.writestr(f"{number}.jpg", encoded(drawn(number)))
        out.writestr("zeros.png", bytes(50_000_000))
    assert "like a bomb" in why(ingest(archive, tmp_path / "items"))["zeros.png"]


def test_a_zip_entry_that_lies_about_its_size_is_still_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_PICTURE_BYTES", 100_000)
    archive = tmp_path / "lies.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for number in range(2):
            out.writestr(f"{number}.jpg", encoded(drawn(number)))
        out.writestr("large.jpg", bytes(200_000))
    assert "larger than" in why(ingest(archive, tmp_path / "items"))["large.jpg"]


def test_a_zip_of_very_many_or_very_much_is_refused_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "many.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for number in range(4):
            out.writestr(f"{number}.jpg", encoded(drawn(number)))
    monkeypatch.setattr(sources, "MAX_ZIP_BYTES", 4_000)
    with pytest.raises(InvalidCollection, match="split it"):
        ingest(archive, tmp_path / "items")
    monkeypatch.setattr(sources, "MAX_ENTRIES", 3)
    with pytest.raises(InvalidCollection, match="at most 3"):
        ingest(archive, tmp_path / "items")


def test_texts_are_items_like_pictures(tmp_path: Path) -> None:
    table = tmp_path / "abstracts.csv"
    table.write_text('id;text\na1;"First; with a semicolon"\na2;<b>Second</b>\na3;\na4;"  first; WITH a  semicolon"\n')
    collection = ingest(table, tmp_path / "items")
    assert [(item.id, item.kind, item.text) for item in collection] == [
        ("a1", "text", "First; with a semicolon"),
        ("a2", "text", "<b>Second</b>"),
    ]
    assert set(why(collection)) == {"a3", "a4"}


@pytest.mark.parametrize("kind", ["folder", "zip", "csv"])
def test_a_text_that_is_too_long_is_cut_and_named(tmp_path: Path, kind: str) -> None:
    texts = {"long.txt": "a" * 5_001, "full.txt": "b" * 5_000, "short.txt": "c"}
    source = tmp_path / f"texts.{kind}"
    if kind == "csv":
        source.write_text("id,text\n" + "".join(f"{name},{text}\n" for name, text in texts.items()))
    elif kind == "zip":
        with zipfile.ZipFile(source, "w") as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
    else:
        source.mkdir()
        for name, text in texts.items():
            (source / name).write_text(text)
    collection = ingest(source, tmp_path / "items")
    assert {item.id: item.text for item in collection} == texts | {"long.txt": "a" * 5_000}
    assert why(collection) == {"long.txt": "was cut after 5,000 characters"}
    assert changes_since(source, collection) == (0, 0)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_text_among_pictures_is_left_out_by_name(tmp_path: Path, zipped: bool) -> None:
    source = folder_of(3, tmp_path / "photos")
    (source / "notes.TXT").write_text("Do not forget the light.")
    if zipped:
        with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
            for path in source.iterdir():
                archive.write(path, path.name)
        source = tmp_path / "photos.zip"
    assert number_of_items(source) == 3
    collection = ingest(source, tmp_path / "items")
    assert {item.kind for item in collection} == {"picture"}
    assert why(collection) == {"notes.TXT": "(a text among pictures; to mix them give a CSV)"}
    assert changes_since(source, collection) == (0, 0)


def test_a_csv_may_mix_texts_and_pictures(tmp_path: Path) -> None:
    folder = folder_of(1, tmp_path / "photos")
    (tmp_path / "both.csv").write_text(f"image,text\nphotos/{next(folder.iterdir()).name},\n,A word\n")
    collection = ingest(tmp_path / "both.csv", tmp_path / "items")
    assert [item.kind for item in collection] == ["picture", "text"]


def test_a_source_with_too_little_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for look in (number_of_items, lambda path: ingest(path, tmp_path / "items")):
        with pytest.raises(InvalidCollection, match=r"found no usable items in .*empty, and choosing takes"):
            look(tmp_path / "empty")
    (tmp_path / "empty" / "a.svg").write_text("<svg/>")
    with pytest.raises(InvalidCollection, match=r"Left out: a.svg is SVG"):
        number_of_items(tmp_path / "empty")


def test_a_csv_gives_pictures_their_captions_and_alternative_texts(tmp_path: Path) -> None:
    folder_of(3, tmp_path)
    table = tmp_path / "photos.csv"
    table.write_text(
        "Image,Caption,Alt\nphoto 0.jpg,The Rialto,A bridge\nphoto 1.jpg,,\n../outside.jpg,,\nnowhere.jpg,,\n"
    )
    (tmp_path.parent / "outside.jpg").write_bytes(encoded(drawn(77)))
    collection = ingest(table, tmp_path / "items")
    assert [(item.caption, item.alt) for item in collection] == [("The Rialto", "A bridge"), ("", "")]
    words = why(collection)
    assert "outside the CSV's folder" in words["outside.jpg"]
    assert "is not beside the table" in words["nowhere.jpg"]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "colour,size\nred,1\n", "needs `text`, or `image`"),
        ("a.csv", "text\n", "no rows"),
        ("a.csv", "text\nonly one\n", "at least 2"),
        ("a.csv", b"text\n\xff\xfe\xfa\n", "UTF-8"),
        ("a.zip", "not a zip", "cannot be opened as a zip"),
        ("a.pdf", "pdf", "not a collection"),
    ],
)
def test_a_source_that_cannot_be_read_says_what_was_expected(
    tmp_path: Path, name: str, content: str | bytes, expected: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidCollection, match=expected):
        ingest(path, tmp_path / "items")


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidCollection, match="there is no"):
        ingest(tmp_path / "nowhere", tmp_path / "items")


def test_names_are_made_printable(tmp_path: Path) -> None:
    assert sources.safe_name("../..//a\x00b\u202e/c\n.jpg") == "a\ufffdb\ufffd/c\ufffd.jpg"
    assert sources.safe_name("..") == "unnamed"
    assert sources.safe_name("x" * 300 + ".jpg").endswith("x.jpg")
    assert sources.clean_text("a\x00b\x1b[31m\r\nc", 100) == "ab[31m\nc"


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.png").write_bytes(encoded(drawn(9)))
    folder = folder_of(3, tmp_path / "photos")
    inside = sorted(folder.iterdir())[0]
    (folder / "way-out.png").symlink_to(outside / "private.png")
    (folder / "folder-out").symlink_to(outside)
    (folder / "circle.png").symlink_to(folder / "circle.png")
    (folder / "same.png").symlink_to(inside)
    collection = ingest(folder, tmp_path / "items")
    assert why(collection)["way-out.png"] == "is a link to something outside the folder"
    assert "circle.png" in why(collection)
    assert len(collection) == 3


def test_odd_names_in_a_zip_are_taken_or_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w") as out:
        for number in range(3):
            out.writestr(f"{number}.png", encoded(drawn(number)))
        for name in ("9" * 5_000 + ".png", "../../etc/passwd", "a\\..\\b.txt", "\u202egnp.exe", "/", "con"):
            out.writestr(name, b"x")
    collection = ingest(path, tmp_path / "items")
    assert len(collection) == 3
    left_out = why(collection)
    assert "is not taken" in left_out["etc/passwd"]
    assert len(left_out) == 5, left_out  # each by name; "/" is a folder


def test_a_nul_in_a_csv_is_no_way_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,image\none,\ntwo,\nthree,a\x00b.png\nfour\x00,\n")
    collection = ingest(tmp_path / "a.csv", tmp_path / "items")
    assert "no file's name" in next(iter(why(collection).values()))
    assert len(collection) == 3


def test_a_table_whose_only_image_is_missing_names_it_before_anything_is_processed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("image\ngone.jpg\n")
    why = r"no usable items.*gone\.jpg names the image gone\.jpg, which is not beside the table \(row 2\)"
    with pytest.raises(InvalidCollection, match=why):
        number_of_items(tmp_path / "a.csv")
    with pytest.raises(InvalidCollection, match=why):
        ingest(tmp_path / "a.csv", tmp_path / "items")
