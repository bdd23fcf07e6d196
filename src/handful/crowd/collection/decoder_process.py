"""The child process that decodes pictures: `python -m handful.crowd.collection.decoder_process`.

A picture from a stranger is a program for the decoder. So it is decoded here, in a process that is locked in
(`sandbox.py`) and is thrown away when it misbehaves. It first says what it could still do. Then pictures come in on
standard input and leave on standard output, each with its length before it; nothing of the original but its pixels
goes through.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from handful.crowd.collection.sandbox import lock_this_process, still_possible

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 50_000_000
LARGE, MEDIUM, THUMBNAIL = 1600, 900, 480
FORMATS = ["JPEG", "PNG", "WEBP", "GIF"]
HEIF = "HEIF"
"""Taken where `pillow-heif` is installed."""
LENGTH = 8
_NOTHING = [b"", b"", b""]


class _Refused(Exception):
    """This picture is not taken; the text says why, in words for the organizer."""


def main() -> None:
    """Decode one picture after another until the parent closes the pipe."""
    from PIL import Image, ImageCms, ImageOps  # noqa: F401  (nothing can be loaded once the process is locked)

    Image.init()
    if heif_is_known():
        from pillow_heif import register_heif_opener

        register_heif_opener(thumbnails=False)
        FORMATS.append(HEIF)
    _load_what_is_loaded_late()
    lock_this_process()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    _write(sink, json.dumps(still_possible()).encode())
    while head := source.read(LENGTH):
        data = source.read(int.from_bytes(head))
        try:
            said, *versions = reencode(data)
        except _Refused as refusal:
            said, versions = {"refused": str(refusal)}, _NOTHING
        except MemoryError:
            said, versions = {"refused": "needs too much memory to decode"}, _NOTHING
        except Exception:
            said, versions = {"refused": "is damaged: it cannot be decoded"}, _NOTHING
        _write(sink, json.dumps(said).encode(), *versions)


def heif_is_known() -> bool:
    """Whether HEIC pictures can be decoded here: that takes the extra `heic`."""
    return find_spec("pillow_heif") is not None


def _load_what_is_loaded_late() -> None:
    """Decode a tiny picture of each kind: decoders import modules when they first need them."""
    from PIL import ExifTags, Image, ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    as_cameras_do: dict[str, Any] = {"icc_profile": profile, "exif": turned.tobytes()}
    kinds: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
        "JPEG": (("L", "RGB", "CMYK"), as_cameras_do | {"progressive": True}),
        "PNG": (("1", "L", "LA", "I;16", "P", "RGB", "RGBA"), as_cameras_do),
        "WEBP": (("RGB", "RGBA"), as_cameras_do),
        "GIF": (("P", "L"), {"transparency": 0}),
    }
    if HEIF in FORMATS:
        kinds[HEIF] = (("L", "RGB", "RGBA"), as_cameras_do)
    for kind, (modes, options) in kinds.items():
        for mode in modes:
            first, second = (Image.new(mode, (8, 8), n) for n in range(2))
            moving: dict[str, Any] = {} if kind in ("JPEG", HEIF) else {"save_all": True, "append_images": [second]}
            for more in ({}, moving):
                out = BytesIO()
                first.save(out, kind, **options, **more)
                reencode(out.getvalue())


def reencode(data: bytes) -> tuple[dict[str, object], bytes, bytes, bytes]:
    """The picture's size, and its large, medium and small versions as WebP: upright, flat, in sRGB, without metadata.

    The medium one is empty where the large one is no larger.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # our own limit, below, has a better word to say
    try:
        picture = Image.open(BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise _Refused("is not a JPEG, PNG, WebP, GIF or HEIC picture") from None
    with picture:
        pixels = picture.width * picture.height
        if pixels > MAX_PIXELS:
            raise _Refused(f"has {pixels / 1e6:.0f} million pixels, at most {MAX_PIXELS // 10**6} million are taken")
        picture.draft("RGB", (2 * LARGE, 2 * LARGE))
        upright = ImageOps.exif_transpose(picture)
        flat = _flat(upright)
    large, medium, small = _fit(flat, LARGE), _fit(flat, MEDIUM), _fit(flat, THUMBNAIL)
    said: dict[str, object] = {"width": large.width, "height": large.height}
    return said, _webp(large), _webp(medium) if medium.size != large.size else b"", _webp(small)


def _flat(picture: Image) -> Image:
    """RGB in sRGB, on white where the picture is transparent."""
    from PIL import Image, ImageCms

    profile = picture.info.get("icc_profile")
    if profile and picture.mode in ("RGB", "CMYK", "L"):
        try:
            wide = ImageCms.ImageCmsProfile(BytesIO(profile))
            converted = ImageCms.profileToProfile(picture, wide, ImageCms.createProfile("sRGB"), outputMode="RGB")
        except (ImageCms.PyCMSError, OSError, ValueError):
            converted = None  # a broken profile is no reason to refuse the picture
        if converted is not None:
            return converted
    if picture.mode.startswith("I"):  # sixteen bits of grey, which `convert` would cut off at eight
        return picture.convert("I").point(lambda level: level / 256).convert("L").convert("RGB")
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        layer = picture.convert("RGBA")
        paper = Image.new("RGB", layer.size, "white")
        paper.paste(layer, mask=layer.getchannel("A"))
        return paper
    return picture.convert("RGB")


def _fit(picture: Image, most: int) -> Image:
    from PIL import Image

    scale = most / max(picture.size)
    if scale >= 1:
        return picture
    width, height = (max(1, round(side * scale)) for side in picture.size)
    return picture.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _webp(picture: Image) -> bytes:
    """Encoded without any of the metadata that a picture carries along in `info`."""
    out = BytesIO()
    picture.save(out, "WEBP", quality=82, method=2, exif=b"", icc_profile=b"", xmp=b"")
    return out.getvalue()


def _write(sink: BinaryIO, *parts: bytes) -> None:
    for part in parts:
        sink.write(len(part).to_bytes(LENGTH))
        sink.write(part)
    sink.flush()


if __name__ == "__main__":
    main()
