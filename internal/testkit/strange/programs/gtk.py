"""Strange windows in GTK: gtk.py FOLDER VERSION, with VERSION 3 or 4."""

from gtkbase import *
import gtkfields
import gtkrows


def column(node):
    box = Gtk.Box(orientation=H if node["kind"] in ("row", "toolbar") else V, spacing=4)
    if node["kind"] == "toolbar":
        box.get_style_context().add_class("toolbar")
    for child in node.get("children", []):
        put(box, make(child), child["kind"] in ("notebook", "scrolled", "paned"))
    return box


def grid(node):
    cells = Gtk.Grid(column_spacing=8, row_spacing=4)
    children = node.get("children", [])
    for child, i in zip(children, node.get("places") or range(len(children))):
        cells.attach(make(child), i % 2, i // 2, 1, 1)
    return cells


def first(node):
    children = node.get("children", [])
    return make(children[0]) if children else label("")


def frame(node):
    return inside(Gtk.Frame(label=node["name"]), first(node))


def paned(node):
    both = Gtk.Paned(orientation=H)
    left, right = (make(child) for child in node["children"])
    if NEW:
        both.set_start_child(left)
        both.set_end_child(right)
    else:
        both.pack1(left, True, False)
        both.pack2(right, True, False)
    return both


def notebook(node):
    book = Gtk.Notebook()
    for child, title in zip(node["children"], node["items"]):
        book.append_page(make(child), Gtk.Label(label=title))
    S.set(node, 0)
    book.connect("switch-page", lambda _, page, n: S.set(node, n))
    return book


def pages(node):
    """A stack of the node's children, which has each page's name."""
    stack = Gtk.Stack()
    for i, child in enumerate(node["children"]):
        title = node["items"][i] if node.get("items") else str(i)
        stack.add_titled(make(child), str(i), title)
    S.set(node, 0)
    stack.connect("notify::visible-child-name", lambda *_: stack.get_visible_child_name() and S.set(node, int(stack.get_visible_child_name())))
    return stack


def stack(node):
    inner = pages(node)
    box = Gtk.Box(orientation=V, spacing=4)
    put(box, Gtk.StackSwitcher(stack=inner))
    put(box, inner, True)
    return box


def wizard(node):
    inner = pages(node)
    box, buttons = Gtk.Box(orientation=V, spacing=4), Gtk.Box(orientation=H, spacing=4)
    put(box, inner, True)

    def go(step):
        to = int(inner.get_visible_child_name()) + step
        if 0 <= to < len(node["children"]):
            inner.set_visible_child_name(str(to))
    for title, step in (("Back", -1), ("Next", 1)):
        put(buttons, Gtk.Button(label=title)).connect("clicked", lambda _, step=step: go(step))
    put(box, buttons)
    return box


def expander(node):
    part = Gtk.Expander(label=node["name"], expanded=bool(node.get("value")))
    S.set(node, part.get_expanded())
    part.connect("notify::expanded", lambda *_: S.set(node, part.get_expanded()))
    return inside(part, first(node))


def popover(node):
    part, content = Gtk.MenuButton(label=node["name"]), first(node)
    S.set(node, False)
    if NEW:
        over = Gtk.Popover(child=content)
        over.connect("show", lambda _: S.set(node, True))
    else:
        over = inside(Gtk.Popover(), content)
        content.show_all()
        over.connect("map", lambda _: S.set(node, True))
    over.connect("closed", lambda _: S.set(node, False))
    part.set_popover(over)
    return part


def dialog(node):
    """A button that opens a dialog with the node's contents."""
    part = Gtk.Button(label=node["name"])
    box = Gtk.Box(orientation=V, spacing=8)
    put(box, first(node), True)
    close = put(box, Gtk.Button(label="Dismiss"))
    front = []

    def opened(_):
        if not front:
            front.append(modal_window("Details", node.get("modal", False), box))
            front[0].connect("close-request" if NEW else "delete-event", closed)
            close.connect("clicked", closed)
        show(front[0])
        S.set(node, True)

    def closed(*_):
        front[0].set_visible(False)
        S.set(node, False)
        return True
    S.set(node, False)
    part.connect("clicked", opened)
    return part


MAKERS.update({
    "column": column, "row": column, "toolbar": column, "grid": grid, "frame": frame, "paned": paned, "scrolled": lambda node: scrolling(first(node), 120),
    "notebook": notebook, "stack": stack, "wizard": wizard, "expander": expander, "popover": popover, "dialog": dialog,
})


def display(w):
    """Shows the window in the place of the one before."""
    window = Gtk.Window(title=w["title"], default_width=w["width"], default_height=w["height"])
    Gtk.Widget.set_default_direction(Gtk.TextDirection.RTL if w.get("rtl") else Gtk.TextDirection.LTR)
    SHOWN["window"], SHOWN["windows"] = window, [window]
    content = inside(Gtk.ScrolledWindow(), make(w["root"]))
    if w.get("status"):
        line, page = label("0 events"), content
        content = Gtk.Box(orientation=V)
        put(content, page, True)
        put(content, line)
        S.counted = lambda events: line.set_text(f"{events} events")
    inside(window, content)
    window.connect("close-request" if NEW else "delete-event", lambda *_: S.event({"id": "window"}, "closed"))
    show(window)


def look():
    """Shows the next window, if there is one."""
    following = S.next()
    if following:
        name, w = following
        S.begin("")
        for old in SHOWN.get("windows", []):
            if NEW:
                close_popovers(old)
            old.destroy()
        SHOWN.clear()
        for _ in range(100):  # what is left of them must not be taken for the next window
            GLib.MainContext.default().iteration(False)
        S.begin(name)
        display(w)
        timer(250, lambda: S.start(name))
    return True


GLib.set_prgname("strange")
if NEW:
    Gtk.init()
else:
    Gtk.init([])
GLib.timeout_add(30, look)
GLib.MainLoop().run()
