# SPDX-License-Identifier: BSD-3-Clause
"""Gets upstream archives of Debian's source packages with apt, which checks their checksums, and unpacks them.

The machine's configured package sources are read, turned into `deb-src` entries and used from a private apt
configuration, so that /etc/apt and apt's own lists stay as they are.
"""
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path


class CannotFetch(Exception):
    """The source package cannot be had: most often there is no network."""


def release_codename(os_release):
    found = re.search(r'^VERSION_CODENAME="?([^"\n]+)', os_release, re.MULTILINE)
    return found.group(1) if found else None


def source_lines(text, codename):
    """The `deb` lines of a sources.list as `deb-src` lines; only those for the suites of `codename` if it is given."""
    lines = []
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+((?:\[[^\]]*\]\s+)?\S+\s+(\S+).*)", line)
        if found and (codename is None or found.group(2).startswith(codename)):
            lines.append("deb-src " + found.group(1))
    return lines


def source_stanzas(text, codename):
    """The same for the stanzas of a `.sources` file."""
    stanzas = []
    for stanza in re.split(r"\n\s*\n", text):
        stanza = "\n".join(line for line in stanza.splitlines() if line.strip() and not line.startswith("#"))
        fields = dict(re.findall(r"^([\w-]+):[ \t]*(.*)$", stanza, re.MULTILINE))
        suites = fields.get("Suites", "").split()
        if "URIs" not in fields or fields.get("Enabled", "yes").lower() == "no":
            continue
        if codename is None or any(suite.startswith(codename) for suite in suites):
            stanzas.append(re.sub(r"^Types:.*$", "Types: deb-src", stanza, flags=re.MULTILINE) + "\n")
    return stanzas


def private_sources(apt_folder, target):
    """Writes `deb-src` entries for what `apt_folder` (/etc/apt) names into the folder `target`."""
    os_release = Path("/etc/os-release")
    codename = release_codename(os_release.read_text()) if os_release.exists() else None
    old = [apt_folder / "sources.list", *sorted(apt_folder.glob("sources.list.d/*.list"))]
    old_text = "\n".join(path.read_text() for path in old if path.is_file())
    new_text = "\n\n".join(path.read_text() for path in sorted(apt_folder.glob("sources.list.d/*.sources")))
    parts = target / "parts"
    shutil.rmtree(target, ignore_errors=True)
    parts.mkdir(parents=True)
    # Other vendors' repositories have suites of other names. A derivative's suites may be named after nothing here.
    for name in (codename, None):
        lines, stanzas = source_lines(old_text, name), source_stanzas(new_text, name)
        if lines or stanzas:
            break
    else:
        raise CannotFetch("apt has no package sources on this machine")
    (target / "sources.list").write_text("\n".join(lines) + "\n")
    (parts / "private.sources").write_text("\n".join(stanzas))
    for folder in ("lists/partial", "cache/archives/partial"):
        (target / folder).mkdir(parents=True)


def download(work, package):
    """Fetches the upstream archive of the package into `work`."""
    if shutil.which("apt-get") is None:
        raise CannotFetch("there is no apt-get")
    apt = work / "apt"
    private_sources(Path("/etc/apt"), apt)
    options = {
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": apt / "parts",
        "Dir::State::lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::Retries": 2,
        "Acquire::http::Timeout": 20,
        "Acquire::https::Timeout": 20,
    }
    command = ["apt-get", *(f"-o{name}={value}" for name, value in options.items())]
    with open(work / "fetch.log", "wb") as log:
        try:
            # If one of several sources cannot be reached, the others may have the package: the second command shows it.
            for arguments in (["update"], ["source", "--tar-only", package]):
                result = subprocess.run(
                    command + arguments, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=300
                )
        except subprocess.TimeoutExpired:
            raise CannotFetch("apt-get took more than 300 s") from None
    shutil.rmtree(apt)
    if result.returncode != 0:
        text = (work / "fetch.log").read_text(errors="replace").strip().splitlines()
        raise CannotFetch(f"apt-get source {package}: {text[-1] if text else 'no message'}")


def archive(work, package):
    """The package's archive in `work`; fetches it if need be. PATCHBAY_SOURCES may name a folder that has archives already."""
    pattern = f"{package}_*.orig.tar.*"
    offered = os.environ.get("PATCHBAY_SOURCES")
    if offered and not list(work.glob(pattern)):
        for path in Path(offered).glob(pattern):
            shutil.copy(path, work)
    if not list(work.glob(pattern)):
        download(work, package)
    found = [path for path in sorted(work.glob(pattern)) if path.suffix != ".asc"]
    if not found:
        raise CannotFetch(f"apt-get source {package} left no {pattern}")
    return found[-1]


def version_of(path, package):
    """The upstream version in an archive's name."""
    found = re.match(rf"{re.escape(package)}_(.+)\.orig\.tar", path.name)
    return found.group(1) if found else "unknown"


def unpack(path, target, folder="", change=None):
    """Unpacks what is below `folder` in the archive into `target`; `change` may edit it before it has its name."""
    unfinished = target.with_name(target.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    above = folder + "/" if folder else ""
    with tarfile.open(path) as tar:
        tar.extraction_filter = getattr(tarfile, "tar_filter", None)
        for member in tar:
            place = member.name.split("/", 1)[-1]
            # Members keep their times: `make` would run autoconf again for a configure.ac that is newer than configure.
            if "/" not in member.name or not place.startswith(above):
                continue
            member.name = place[len(above) :]
            if member.islnk():
                member.linkname = member.linkname.split("/", 1)[-1][len(above) :]
            member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
            tar.extract(member, unfinished)
    if change is not None:
        change(unfinished)
    unfinished.rename(target)


def rename_functions(folder, renamed):
    """Replaces names of functions in {file: {old name: new name}}."""
    for name, names in renamed.items():
        file = folder / name
        if file.exists():
            text = file.read_text()
            for old, new in names.items():
                text = re.sub(rf"\b{old}\b", new, text)
            file.write_text(text)
