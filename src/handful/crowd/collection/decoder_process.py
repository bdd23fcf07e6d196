"""The child process that decodes pictures: `python -m handful.crowd.collection.decoder_process`.

A picture from a stranger is a program for the decoder. So it is decoded here, in a process that can open no file for
writing, has little memory and little time, and is thrown away when it misbehaves. Pictures come in on standard input
and leave on standard output, each with its length before it; nothing of the original but its pixels goes through.
"""

from __future__ import annotations

import json
import resource
import sys
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 50_000_000
LARGE, THUMBNAIL = 1600, 480
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
MEMORY_BYTES = 1_500_000_000
CPU_SECONDS = 300
LENGTH = 8


class Refused(Exception):
    """This picture is not taken; the text says why, in words for the organizer."""


def limit_this_process() -> None:
    """Little memory, little time, no files written, no core dumped. None of this can be taken back."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def main() -> None:
    """Decode one picture after another until the parent closes the pipe."""
    from PIL import Image, ImageCms, ImageOps  # noqa: F401  (imported before the limits, which forbid loading much more)

    Image.init()
    limit_this_process()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(LENGTH):
        data = source.read(int.from_bytes(head))
        try:
            said, large, thumbnail = reencode(data)
        except Refused as refusal:
            said, large, thumbnail = {"refused": str(refusal)}, b"", b""
        except MemoryError:
            said, large, thumbnail = {"refused": "needs too much memory to decode"}, b"", b""
        except Exception:
            said, large, thumbnail = {"refused": "is damaged: it cannot be decoded"}, b"", b""
        _write(sink, json.dumps(said).encode(), large, thumbnail)


def reencode(data: bytes) -> tuple[dict[str, object], bytes, bytes]:
    """The picture's size, and its large and small versions as WebP: upright, flat, in sRGB, without metadata."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None  # our own limit, below, has a better word to say
    try:
        picture = Image.open(BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise Refused("is not a JPEG, PNG, WebP or GIF picture") from None
    with picture:
        pixels = picture.width * picture.height
        if pixels > MAX_PIXELS:
            raise Refused(f"has {pixels / 1e6:.0f} million pixels, at most {MAX_PIXELS // 10**6} million are taken")
        picture.draft("RGB", (2 * LARGE, 2 * LARGE))
        upright = ImageOps.exif_transpose(picture)
        flat = _flat(upright)
    large, small = _fit(flat, LARGE), _fit(flat, THUMBNAIL)
    said: dict[str, object] = {"width": large.width, "height": large.height}
    return said, _webp(large), _webp(small)


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
