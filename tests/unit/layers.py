"""Fails where a layer includes a header of a layer that it does not link, or what is no layer's.

The layers and their links are the baton_layer() calls; a folder inside a layer's belongs to it. The linker finds such
an include only if it brings a function that is not inline.
usage: layers.py SOURCE_DIR
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])


def read_layers():
    """From each layer's name its folder, and the names of what it links."""
    folders, links = {}, {}
    for lists in ("src", "topology", "collectives", "src/comm"):
        text = (root / lists / "CMakeLists.txt").read_text()
        for name, arguments in re.findall(r"^baton_layer\((\w+)([^)]*)\)", text, re.MULTILINE):
            inner = re.search(r"DIR \$\{CMAKE_CURRENT_SOURCE_DIR\}/(\S+)", arguments)
            folders[name] = root / lists / inner[1] if inner else root / lists
            links[name] = re.findall(r"baton_\w+", arguments.partition("LINK")[2])
    return folders, links


def seen_by(name, links):
    return {name}.union(*(seen_by(linked, links) for linked in links[name]))


def layer_of(path, folders):
    """The layer with the deepest folder around the file, if any has it."""
    around = [name for name, folder in folders.items() if folder in path.parents]
    return max(around, key=lambda name: len(folders[name].parts), default=None)


def included(path):
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.MULTILINE):
        bases = (root / "src", root, path.parent)
        if not (root / "include" / name).is_file():  # the public headers are below all layers
            yield name, next((base / name for base in bases if (base / name).is_file()), None)


folders, links = read_layers()
wrong, looked_at = [], 0
for path in sorted(file for top in ("src", "topology", "collectives") for file in (root / top).rglob("*.*")):
    layer = layer_of(path, folders)
    if layer is None or path.suffix not in (".hpp", ".cpp", ".cuh", ".cu"):
        continue
    looked_at += 1
    for name, header in included(path):
        above = header is None or root / "src/api" in header.parents  # the top, which is no baton_layer()
        other = layer_of(header, folders) if header is not None else None
        if above or other not in seen_by(layer, links):
            wrong.append(f"{path.relative_to(root)} includes {name}, which {layer} does not link")
print("\n".join(wrong) or f"{looked_at} files of {len(folders)} layers include what they link")
sys.exit(1 if wrong or looked_at == 0 else 0)
