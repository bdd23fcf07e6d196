"""Decoding pictures in a child process: its side, `python -m handful.crowd.decoding`, and its parent's."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from typing import IO, Any, BinaryIO, Literal

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from handful.errors import InvalidCollection

LENGTH = 8
REENCODE: dict[str, object] = {"what": "reencode"}
Fit = Literal["contain", "cover", "exact"]
"""What becomes of a picture that has not the form of the place for it."""


# The parent's side


TIMEOUT_S = 30.0
PICTURES_PER_CHILD = 200
MAX_REPLY = 64_000_000


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture as it will be shown: WebP, at most 1600, 900 and 480 pixels wide or high.

    `medium` is empty where `large` is no larger than that.
    """

    width: int
    height: int
    large: bytes
    medium: bytes
    thumbnail: bytes


class Decoder:
    """One decoding child, started when needed and replaced when it has died, hung or grown old. For one thread."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self.timeout_s = timeout_s
        self._child: subprocess.Popen[bytes] | None = None
        self._served = 0

    def decode(self, data: bytes) -> Decoded:
        """The picture re-encoded; InvalidCollection says in a few words why it is not taken."""
        (width, height), large, medium, thumbnail = self._ordered(REENCODE, data, 3)
        return Decoded(width, height, large, medium, thumbnail)

    def pixels(self, data: bytes, size: tuple[int, int], fit: Fit) -> Image.Image:
        """The picture in this size, as `pixels` says; InvalidCollection says why it cannot be had."""
        shape, plain = self._ordered({"what": "pixels", "size": size, "fit": fit}, data, 1)
        return Image.frombytes("RGB", shape, plain)

    def _ordered(self, order: dict[str, object], data: bytes, number: int) -> tuple[Any, ...]:
        """The size that the child says, and so many parts that it made: taken for no more than they are."""
        child = self._ready()
        out_of_time = threading.Event()

        def stop() -> None:
            out_of_time.set()
            child.kill()

        alarm = threading.Timer(self.timeout_s, stop)
        alarm.start()
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            for part in (json.dumps(order).encode(), data):
                child.stdin.write(len(part).to_bytes(LENGTH) + part)
            child.stdin.flush()
            said = json.loads(_read(child.stdout))
            parts = [] if "refused" in said else [_read(child.stdout) for _ in range(number)]
            size = () if "refused" in said else (int(said["width"]), int(said["height"]))
        except (OSError, EOFError, ValueError, TypeError, KeyError):
            self.close()
            why = f"took more than {self.timeout_s:g} seconds" if out_of_time.is_set() else "broke the decoder"
            raise InvalidCollection(f"{why} and was left out") from None
        finally:
            alarm.cancel()
        if "refused" in said:
            raise InvalidCollection(str(said["refused"]))
        return size, *parts

    def close(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what was still to be written is for nobody
                    pipe.close()
        child.wait()

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._child is not None and (self._served >= PICTURES_PER_CHILD or self._child.poll() is not None):
            self.close()
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "handful.crowd.decoding"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            self._served = 0
        self._served += 1
        return self._child


def _read(stream: IO[bytes]) -> bytes:
    """One part of a reply, not trusted to be as long as it says."""
    head = stream.read(LENGTH)
    length = int.from_bytes(head)
    if len(head) < LENGTH or length > MAX_REPLY:
        raise EOFError
    part = stream.read(length)
    if len(part) < length:
        raise EOFError
    return part


# The child's side


MEMORY_BYTES = 1_500_000_000
CPU_SECONDS = 300
MAX_PIXELS = 50_000_000
LARGE, MEDIUM, THUMBNAIL = 1600, 900, 480
FORMATS = ["JPEG", "PNG", "WEBP", "GIF"]
HEIF = "HEIF"
"""Taken where `pillow-heif` is installed."""


class _Refused(Exception):
    """This picture is not taken; the text says why, in words for the organizer."""


def main() -> None:
    """Do one thing after another until the parent closes the pipe."""
    _limit()
    _know_formats()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(LENGTH):
        order = json.loads(source.read(int.from_bytes(head)))
        data = source.read(int.from_bytes(source.read(LENGTH)))
        try:
            said, *parts = reencode(data) if order == REENCODE else pixels(data, order["size"], order["fit"])
        except _Refused as refusal:
            said, parts = {"refused": str(refusal)}, []
        except MemoryError:
            said, parts = {"refused": "needs too much memory to decode"}, []
        except Exception:
            said, parts = {"refused": "is damaged: it cannot be decoded"}, []
        _write(sink, json.dumps(said).encode(), *parts)


def _limit() -> None:
    """Little memory, little time, and no byte written to a file: what cannot be taken back."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def _know_formats() -> None:
    if heif_is_known():
        from pillow_heif import register_heif_opener

        register_heif_opener(thumbnails=False)
        FORMATS.append(HEIF)


def heif_is_known() -> bool:
    """Whether HEIC pictures can be decoded here: that takes the extra `heic`."""
    return find_spec("pillow_heif") is not None


def reencode(data: bytes) -> tuple[dict[str, object], bytes, bytes, bytes]:
    """The picture's size, and its large, medium and small versions as WebP: upright, flat, in sRGB, without metadata.

    The medium one is empty where the large one is no larger.
    """
    with _opened(data) as picture:
        picture.draft("RGB", (2 * LARGE, 2 * LARGE))
        upright = ImageOps.exif_transpose(picture)
        flat = _flat(upright)
    large, medium, small = _fit(flat, LARGE), _fit(flat, MEDIUM), _fit(flat, THUMBNAIL)
    said: dict[str, object] = {"width": large.width, "height": large.height}
    return said, _webp(large), _webp(medium) if medium.size != large.size else b"", _webp(small)


def pixels(data: bytes, size: tuple[int, int], fit: Fit) -> tuple[dict[str, object], bytes]:
    """A picture as plain RGB: within a size, cut to fill it, or made exactly so large, each pixel the mean below it."""
    with _opened(data) as picture:
        flat = picture.convert("RGB")
    if fit == "contain":
        made = ImageOps.contain(flat, size, Image.Resampling.LANCZOS)
    elif fit == "cover":
        made = ImageOps.fit(flat, size, Image.Resampling.LANCZOS)
    else:
        made = flat.resize(size, Image.Resampling.BOX)
    return {"width": made.width, "height": made.height}, made.tobytes()


def _opened(data: bytes) -> Image.Image:
    """The picture, of a format and size that is taken; nothing of it is decoded yet."""
    Image.MAX_IMAGE_PIXELS = None  # our own limit, below, has a better word to say
    try:
        picture = Image.open(BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise _Refused("is not a JPEG, PNG, WebP, GIF or HEIC picture") from None
    pixels = picture.width * picture.height
    if pixels > MAX_PIXELS:
        raise _Refused(f"has {pixels / 1e6:.0f} million pixels, at most {MAX_PIXELS // 10**6} million are taken")
    return picture


def _flat(picture: Image.Image) -> Image.Image:
    """RGB in sRGB, on white where the picture is transparent."""
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


def _fit(picture: Image.Image, most: int) -> Image.Image:
    scale = most / max(picture.size)
    if scale >= 1:
        return picture
    width, height = (max(1, round(side * scale)) for side in picture.size)
    return picture.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _webp(picture: Image.Image) -> bytes:
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
