"""How much of the time the links of each class are sending."""

import matplotlib.pyplot as pyplot

from . import style


def draw(results):
    links = results.links
    if links.empty:
        return None
    classes = sorted(links["link_class"].unique(), reverse=True)
    figure, axes = pyplot.subplots(figsize=(9, 1.7 + 0.75 * len(classes)), layout="constrained")
    style.heading(figure, results, "Utilisation of the links")
    for row, name in enumerate(classes):
        _draw_class(axes, row, links[links["link_class"] == name])
    axes.set_yticks(range(len(classes)), classes)
    axes.set_ylim(-0.6, len(classes) - 0.4)
    highest = 100 * links["utilisation"].max()
    axes.set_xlim(0, 100 if highest > 60 or highest == 0 else 1.25 * highest)
    style.percent_axis(axes.xaxis)
    axes.set_xlabel("share of the iteration in which a link is sending")
    axes.grid(axis="x", color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
    return figure


def _draw_class(axes, row, links):
    use = 100 * links["utilisation"]
    low, first, third, high = use.quantile([0, 0.25, 0.75, 1])
    labels = ("all links", "middle half", "mean") if row == 0 else (None, None, None)
    axes.plot([low, high], [row, row], color="#56B4E9", linewidth=3, solid_capstyle="butt", label=labels[0])
    axes.plot([first, third], [row, row], color="#0072B2", linewidth=12, solid_capstyle="butt", label=labels[1])
    axes.plot(use.mean(), row, "o", color="#D55E00", markersize=7, label=labels[2])
    text = f"{len(links):,} links carry {style.quantity(links['bytes'].sum(), 'B')}, " \
           f"at most {style.quantity(links['peak_queue'].max(), 'B')} queued"
    axes.annotate(text, (1, row), xycoords=("axes fraction", "data"), xytext=(0, 13), textcoords="offset points",
                  ha="right", va="center", fontsize=9, color="#606060")
