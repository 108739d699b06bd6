"""What the first page of the study has of each part: sentences of the paper beside what came out."""

from _runs import table

HEADER = ("of the paper", "there", "here", "comes out")


def found(part, rows):
    """Tables by their place; `rows`: (sentence, what the paper has, what came out, whether it is the same)."""
    return {f"found {part}": table(HEADER, [(sentence, there, here, "yes" if same else "no") for sentence, there, here, same in rows])}


def share(of, all_of):
    return f"{of} of {all_of}"
