"""Takes away from a link what a disagreement about it does not need."""

import copy
import itertools

from random_links import Archive, Shared, Symbol


def shrink(link, still_fails, limit=300):
    """Takes away one thing after the other as long as `still_fails(link)`, at most `limit` questions. Goes on where it
    was after a success, and begins again until a whole round takes nothing away."""
    asked, taken = 0, True
    while taken:
        at, taken = 0, False
        while asked < limit and (smaller := next(itertools.islice(smaller_links(link), at, None), None)) is not None:
            asked += 1
            if still_fails(smaller):
                link, taken = smaller, True
            else:
                at += 1
    return link


def smaller_links(link):
    """Every link with one thing less, the largest things first."""
    for i in range(len(link.words)):
        yield tidy(edited(link, lambda l, i=i: l.words.pop(i)))
    for i, words in enumerate(link.words):
        inputs = [word for word in words if not word.startswith("-")]
        if len(words) > 1 and inputs:
            yield tidy(edited(link, lambda l, i=i, w=inputs: l.words.__setitem__(i, w)))
    for f, file in enumerate(link.files):
        if isinstance(file, Archive):
            yield from smaller_archives(link, f)
        elif isinstance(file, Shared):
            yield from smaller_shared(link, f)
        else:
            yield from smaller_objects(link, lambda l, f=f: l.files[f])


def edited(link, change):
    result = copy.deepcopy(link)
    change(result)
    return result


def tidy(link):
    """Without the files that the line no longer names."""
    named = link.named()
    link.files = [file for file in link.files if file.name in named]
    link.scripts = {name: text for name, text in link.scripts.items() if name in named}
    return link


def smaller_archives(link, f):
    archive = link.files[f]
    if archive.thin:
        yield edited(link, lambda l: setattr(l.files[f], "thin", False))
    for m in range(len(archive.members)):
        if len(archive.members) > 1:
            yield edited(link, lambda l, m=m: l.files[f].members.pop(m))
        yield from smaller_objects(link, lambda l, m=m: l.files[f].members[m])


def smaller_shared(link, f):
    for field in ("script", "needs"):
        if getattr(link.files[f], field):
            yield tidy(edited(link, lambda l, field=field: setattr(l.files[f], field, "")))
    yield from smaller_objects(link, lambda l: l.files[f].object)


def smaller_objects(link, at):
    obj = at(link)
    for s in range(len(obj.sections)):
        yield edited(link, lambda l, s=s: drop_unused(at(l), at(l).sections.pop(s)))
    for field in ("commons", "absolutes", "bare"):
        for i in range(len(getattr(obj, field))):
            yield edited(link, lambda l, field=field, i=i: drop_unused(at(l), getattr(at(l), field).pop(i)))
    for s, section in enumerate(obj.sections):
        for field in ("refers", "defines"):
            for i in range(len(getattr(section, field))):
                yield edited(link, lambda l, s=s, field=field, i=i: drop_unused(at(l), getattr(at(l).sections[s], field).pop(i)))
        if section.group:
            yield edited(link, lambda l, s=s: setattr(at(l).sections[s], "group", ""))
        if section.kind not in ("data", "text", "tls", "start"):
            yield edited(link, lambda l, s=s: setattr(at(l).sections[s], "kind", "data"))
    for name, symbol in obj.symbols.items():
        if symbol != Symbol():
            yield edited(link, lambda l, name=name: at(l).symbols.__setitem__(name, Symbol()))


def drop_unused(obj, _):
    """Forgets the names that the object no longer mentions: gas would make them undefined symbols."""
    mentioned = {name for name, _ in obj.absolutes}
    for section in obj.sections:
        mentioned |= set(section.defines) | {name for name, _ in section.refers}
    obj.symbols = {name: symbol for name, symbol in obj.symbols.items() if name in mentioned}
