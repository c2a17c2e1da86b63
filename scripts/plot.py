#!/usr/bin/env python3
"""A scatter plot of clustered rows: SVG, and characters for the terminal.

    plot.py DATA.npy LABELS.npy MODEL.npz PICTURE.svg [--title TEXT]

The first two columns are drawn, at most 10,000 rows, with the found means on top. Nothing
beyond Python's own library is needed.
"""

import argparse
import array
import ast
import io
import os
import struct
import sys
import zipfile

CODES = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B"}
COLORS = (
    "#4477aa #ee6677 #228833 #ccbb44 #66ccee #aa3377 #ee7733 #009988 "
    "#882255 #88aa22 #5566cc #bb7755"
).split()
SIDE = 1000  # of the picture, in its own units
MOST_ROWS = 10000


def read_npy(stream):
    """The values of a .npy file as one flat array, and its shape."""
    if stream.read(6) != b"\x93NUMPY":
        raise ValueError("this is not a .npy file.")
    major = stream.read(2)[0]
    width, code = (2, "<H") if major == 1 else (4, "<I")
    (length,) = struct.unpack(code, stream.read(width))
    header = ast.literal_eval(stream.read(length).decode("latin-1"))
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise ValueError("Fortran order is not drawn.")
    values = array.array(CODES[header["descr"][1:]])
    values.frombytes(stream.read())
    if (header["descr"][0] == ">") != (sys.byteorder == "big") and values.itemsize > 1:
        values.byteswap()
    return values, header["shape"]


def points_of(values, shape, rows):
    d = shape[1]
    return [(values[i * d], values[i * d + 1] if d > 1 else 0.0) for i in rows]


class Frame:
    """From data to the unit square, the same scale on both axes, y upwards."""

    def __init__(self, points):
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        self.size = max(max(xs) - min(xs), max(ys) - min(ys)) or 1.0
        self.x0 = (max(xs) + min(xs) - self.size) / 2
        self.y0 = (max(ys) + min(ys) - self.size) / 2

    def place(self, point):
        return (point[0] - self.x0) / self.size, 1 - (point[1] - self.y0) / self.size


def color_clusters(centers):
    """A colour per cluster; of the nearest neighbours coloured so far, none has the same."""
    if len(centers) > 2000:
        return [COLORS[c % len(COLORS)] for c in range(len(centers))]
    chosen = []
    for c, (x, y) in enumerate(centers):
        near = sorted(range(c), key=lambda o: (centers[o][0] - x) ** 2 + (centers[o][1] - y) ** 2)
        taken = {chosen[o] for o in near[:8]}
        start = (c * 5) % len(COLORS)  # walk through the colours, so that all are used
        order = COLORS[start:] + COLORS[:start]
        chosen.append(next(color for color in order if color not in taken))
    return chosen


def draw_svg(path, points, labels, centers, frame, title):
    margin, top = 30, 60 if title else 30
    inner = SIDE - 2 * margin

    def pixel(point):
        x, y = frame.place(point)
        return round(margin + x * inner), round(top + y * inner)

    dots = {}
    colors = color_clusters(centers)
    for point, label in zip(points, labels):
        dots.setdefault(colors[label], set()).add(pixel(point))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {top + inner + margin}">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    if title:
        out.append(
            f'<text x="{margin}" y="38" font-family="sans-serif" font-size="22" '
            f'fill="#333333">{title}</text>'
        )
    for color, places in sorted(dots.items()):
        path_data = "".join(f"M{x} {y}h0" for x, y in sorted(places))
        out.append(
            f'<path d="{path_data}" stroke="{color}" stroke-width="3.5" '
            'stroke-linecap="round" stroke-opacity="0.6" fill="none"/>'
        )
    # Each centre: a dark ring with a light edge, so that it stands out on any colour.
    out.append('<g fill="#ffffff" fill-opacity="0.85" stroke="#111111" stroke-width="2.5">')
    for center in centers:
        x, y = pixel(center)
        out.append(f'<circle cx="{x}" cy="{y}" r="6"/>')
    out.append("</g>\n</svg>\n")
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write("\n".join(out))
    os.replace(path + ".part", path)


def draw_text(points, centers, frame, columns=64):
    """Braille dots, two by four to a character; a character with a mean in it is a disc."""
    lines = columns // 2
    cells = [[0] * columns for _ in range(lines)]
    bits = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
    for point in points:
        x, y = frame.place(point)
        column = min(int(x * 2 * columns), 2 * columns - 1)
        line = min(int(y * 4 * lines), 4 * lines - 1)
        cells[line // 4][column // 2] |= bits[line % 4][column % 2]
    text = [[chr(0x2800 + bit) for bit in line] for line in cells]
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    disc = "\033[1;31m●\033[0m" if color else "●"
    for center in centers:
        x, y = frame.place(center)
        if 0 <= x <= 1 and 0 <= y <= 1:
            text[min(int(y * lines), lines - 1)][min(int(x * columns), columns - 1)] = disc
    return "\n".join("  " + "".join(line) for line in text)


def main():
    parser = argparse.ArgumentParser(description="Scatter plot of clustered rows.")
    parser.add_argument("data")
    parser.add_argument("labels")
    parser.add_argument("model")
    parser.add_argument("picture")
    parser.add_argument("--title", default="")
    arguments = parser.parse_args()

    with open(arguments.data, "rb") as file:
        values, shape = read_npy(file)
    with open(arguments.labels, "rb") as file:
        all_labels, _ = read_npy(file)
    with zipfile.ZipFile(arguments.model) as archive:
        means, means_shape = read_npy(io.BytesIO(archive.read("means.npy")))

    stride = max(1, -(-shape[0] // MOST_ROWS))
    rows = range(0, shape[0], stride)
    points = points_of(values, shape, rows)
    centers = points_of(means, means_shape, range(means_shape[0]))
    frame = Frame(points)
    draw_svg(arguments.picture, points, [all_labels[i] for i in rows], centers, frame,
             arguments.title)
    if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8":
        print(draw_text(points, centers, frame))


if __name__ == "__main__":
    main()
