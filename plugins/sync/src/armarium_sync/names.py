"""File names that every system accepts, and the names that file-sharing programs use for their own files."""

from __future__ import annotations

import re
import unicodedata

from armarium.api import graphemes

REPORT = ".loss.json"
"""What is added to the name of a file for that of the report of its losses."""

LONGEST = 240
"""The longest name written, in bytes: file systems allow 255, and the name of a loss report or temporary file
is longer.
"""

_UNLAWFUL = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
"""Device names of Windows (Microsoft, "Naming Files, Paths, and Namespaces")."""

_PICTURE = re.compile(r"\.(jpe?g|jpe|png|tiff?|webp|jp2|j2k|bmp|gif|pdf)$", re.IGNORECASE)

LASTING = re.compile(r"--([0-9a-f]{32})\.[^.]+$")

OURS = ".armarium-"
"""The prefix of our own temporary and marker files."""

_OF_SHARERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # docs.syncthing.net/users/syncing.html: "<filename>.sync-conflict-<date>-<time>-<modifiedBy>.<ext>"; temporary files
    # ".syncthing.<name>.tmp", on Windows "~syncthing~<name>.tmp"; .stfolder, .stversions, .stignore.
    ("a conflict copy of Syncthing", re.compile(r"\.sync-conflict-\d{8}-\d{6}(-[A-Z0-9]{7})?")),
    ("a working file of Syncthing", re.compile(r"^(\.syncthing\..*\.tmp|~syncthing~.*\.tmp)$")),
    ("a working file of Syncthing", re.compile(r"^\.st(folder|versions|ignore)")),
    # help.dropbox.com/organize/conflicted-copy: "name (user's conflicted copy date)"; ".dropbox", ".dropbox.cache".
    ("a conflict copy of Dropbox", re.compile(r"\([^()]*conflicted copy[^()]*\)", re.IGNORECASE)),
    ("a working file of Dropbox", re.compile(r"^(\.dropbox(\.|$)|~\$|\.~lock\.)")),
    # docs.nextcloud.com, Desktop Client, "Conflicts": "name (conflicted copy date time).ext", with a user's name since 2.6;
    # temporary downloads ".name.~hex", journals "._sync_*.db", ".sync_*.db" and ".owncloudsync.log".
    ("a working file of Nextcloud", re.compile(r"^\..+\.~[0-9a-f]+$")),
    (
        "a working file of Nextcloud",
        re.compile(r"^(\._?sync_.*\.db.*|\.owncloudsync\.log.*|\.nextcloudsync\.log.*)$"),
    ),
    # What browsers, editors and copying programs create while they write.
    (
        "a file that is still being written",
        re.compile(r"(\.(part|partial|crdownload|download|filepart|swp|swx|tmp)|~)$", re.I),
    ),
)


def maker_of(name: str) -> str | None:
    """Return what a file of this name is if a sharing or copying program created it for itself; None for others."""
    if name.startswith(OURS):
        return "a working file of the engine"
    return next((what for what, pattern in _OF_SHARERS if pattern.search(name)), None)


def fold_path(path: str) -> str:
    """Return a form that is equal for two paths that a disk takes for one: case and Unicode form do not count."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def plain_title(title: str) -> str:
    """Return a title without the extension of a picture."""
    return _PICTURE.sub("", title)


def lawful(name: str, longest: int = LONGEST) -> str:
    """Return *name* in a form that every system accepts: no forbidden characters, no device name, at most
    *longest* bytes.

    The extension is kept; the rest is cut between grapheme clusters and measured in the Unicode form that a
    Mac uses.
    """
    name = _UNLAWFUL.sub("_", unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode()))
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > 10 or not stem:
        stem, dot, ending = name, "", ""
    stem, ending = stem.strip(" ."), ending.rstrip(" .")
    if not ending:
        dot = ""
    if _RESERVED.fullmatch(stem + dot + ending):
        stem = f"_{stem}"
    if stem.startswith(("~", "-")):
        stem = f"_{stem}"
    stem = cut(stem or "_", longest - _bytes(dot + ending))
    return f"{stem}{dot}{ending}"


def cut(text: str, longest: int) -> str:
    """Return the beginning of *text* in at most *longest* bytes, without separating a mark from its letter."""
    if _bytes(text) <= longest:
        return text
    beginning, room = "", longest
    for letter in graphemes(text):
        room -= _bytes(letter)
        if room < 0:
            break
        beginning += letter
    return beginning.rstrip(" .") or "_"


def layout_name(title: str, lasting_id: str, extension: str) -> str:
    """Return `<title>--<lasting id><extension>`."""
    tail = f"--{lasting_id}{extension}"
    return lawful(plain_title(title), LONGEST - len(tail) - len(REPORT)) + tail


def number_name(name: str, number: int) -> str:
    """Return *name* with a number, for a name that is taken."""
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem:
        stem, dot, ending = name, "", ""
    tail = f"-{number}{dot}{ending}"
    return cut(stem, LONGEST - _bytes(tail)) + tail


def lasting_id_of(name: str) -> str | None:
    """Return the lasting id in a name that `layout_name` made."""
    match = LASTING.search(name)
    return match.group(1) if match else None


def _bytes(text: str) -> int:
    return len(unicodedata.normalize("NFD", text).encode())
