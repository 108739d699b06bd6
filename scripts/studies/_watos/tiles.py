"""Tiles on a grid of dies as the search lays them: one shape as often as it fits, other shapes where room is left."""


def shapes(columns, rows, dies):
    """(columns, rows) of so many dies that the grid has room for, the squarest first."""
    found = [(wide, dies // wide) for wide in range(1, min(columns, dies) + 1) if dies % wide == 0 and dies // wide <= rows]
    return sorted(found, key=sum)


def packed(columns, rows, shape):
    """Places as (x, y, shape), most of them of that shape."""
    taken, places = set(), []
    for one in (shape, *shapes(columns, rows, shape[0] * shape[1])):
        for y in range(rows - one[1] + 1):
            for x in range(columns - one[0] + 1):
                spot = {(x + i, y + j) for i in range(one[0]) for j in range(one[1])}
                if not spot & taken:
                    taken |= spot
                    places.append((x, y, one))
    return places


def serpentine(places, shape, needed):
    """So many of them, those of that shape first, along bands there and back."""
    kept = sorted(places, key=lambda place: place[2] != shape)[:needed]
    bands = {}
    for x, y, (wide, high) in kept:
        bands.setdefault(2 * y + high, []).append((2 * x + wide, (x, y, (wide, high))))
    order = []
    for number, centre in enumerate(sorted(bands)):
        order += [place for _, place in sorted(bands[centre], reverse=number % 2 == 1)]
    return order


def dies_of(place, columns):
    """Numbers of its dies, row by row."""
    x, y, (wide, high) = place
    return [columns * (y + j) + x + i for j in range(high) for i in range(wide)]
