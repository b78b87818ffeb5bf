"""A strange window in GTK: gtk.py WINDOW STATE VERSION, with VERSION 3 or 4."""

import sys

import gi

NEW = sys.argv[3] == "4"
gi.require_version("Gtk", "4.0" if NEW else "3.0")
gi.require_version("Gdk", "4.0" if NEW else "3.0")
from gi.repository import Gdk, GLib, GObject, Gtk

from state import State, delay, normal, window

W = window()
S = State(sys.argv[2])
V, H = Gtk.Orientation.VERTICAL, Gtk.Orientation.HORIZONTAL


def put(box, child, grow=False):
    if NEW:
        child.set_hexpand(grow or child.get_hexpand())
        child.set_vexpand(grow and box.get_orientation() == V)
        box.append(child)
    else:
        box.pack_start(child, grow, True, 0)
    return child


def inside(container, child):
    if NEW:
        container.set_child(child)
    else:
        container.add(child)
    return container


def named(widget, name):
    """The accessible name, without anything to see."""
    if NEW:
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
    else:
        widget.get_accessible().set_name(name)


def label(text, **more):
    return Gtk.Label(label=text, xalign=0, **more)


def later(node, do):
    """Runs do after the node's delay."""
    if delay(node):
        GLib.timeout_add(delay(node), lambda: do() and False)
    else:
        do()


def with_label(node, widget, grow=False):
    """The widget with its label at the place that the node wants."""
    how, name = node.get("labelling", "own"), node.get("name", "")
    if how == "own":
        named(widget, name)
        return widget
    if how == "placeholder":
        widget.set_placeholder_text(name)
        return widget
    if how == "tooltip":
        widget.set_tooltip_text(name)
        return widget
    if how == "none":
        return widget
    box = Gtk.Box(orientation=V if how == "above" else H, spacing=6)
    text = label(name)
    if how == "relation":
        text.set_mnemonic_widget(widget)
    for part in (widget, text) if how == "after" else (text, widget):
        put(box, part, part is widget)
    return box


def column(node):
    box = Gtk.Box(orientation=H if node["kind"] == "row" else V, spacing=4)
    for child in node.get("children", []):
        put(box, make(child), child["kind"] in ("notebook", "scrolled", "paned"))
    return box


def grid(node):
    cells = Gtk.Grid(column_spacing=8, row_spacing=4)
    for i, child in enumerate(node.get("children", [])):
        cells.attach(make(child), i % 2, i // 2, 1, 1)
    return cells


def first(node):
    children = node.get("children", [])
    return make(children[0]) if children else label("")


def frame(node):
    return inside(Gtk.Frame(label=node["name"]), first(node))


def scrolled(node):
    area = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER)
    area.set_min_content_height(120)
    return inside(area, first(node))


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


def expander(node):
    part = Gtk.Expander(label=node["name"], expanded=bool(node.get("value")))
    S.set(node, part.get_expanded())
    part.connect("notify::expanded", lambda *_: S.set(node, part.get_expanded()))
    return inside(part, first(node))


def watch_focus(widget, left):
    if NEW:
        focus = Gtk.EventControllerFocus()
        focus.connect("leave", lambda _: left())
        widget.add_controller(focus)
    else:
        widget.connect("focus-out-event", lambda *_: left() and False)


def entry(node):
    field = Gtk.Entry(text=node.get("value", ""))
    if node["kind"] == "password":
        field.set_visibility(False)
        field.set_input_purpose(Gtk.InputPurpose.PASSWORD)
    if node["kind"] == "readonly":
        field.set_editable(False)
    if node.get("habits", {}).get("icon"):
        field.set_icon_from_icon_name(Gtk.EntryIconPosition.SECONDARY, "edit-clear-symbolic")
        field.connect("icon-press", lambda *_: S.event(node, "icon"))
    S.set(node, field.get_text())
    field.connect("changed", lambda _: later(node, lambda: S.set(node, normal(node, field.get_text()))))
    if node.get("habits", {}).get("normalise"):
        def tidy():
            if field.get_text() != normal(node, field.get_text()):
                field.set_text(normal(node, field.get_text()))
        watch_focus(field, tidy)
        field.connect("activate", lambda _: tidy())
    return with_label(node, field)


def text(node):
    area = Gtk.TextView()
    buffer = area.get_buffer()
    buffer.set_text(node.get("value", ""))

    def content():
        return buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)
    S.set(node, content())
    buffer.connect("changed", lambda _: later(node, lambda: S.set(node, content())))
    box = with_label(node, area)
    around = Gtk.ScrolledWindow()
    around.set_min_content_height(60)
    return inside(around, area) if box is area else box


def combo(node):
    free = node["kind"] == "editcombo"
    box = Gtk.ComboBoxText.new_with_entry() if free else Gtk.ComboBoxText()
    for item in node["items"]:
        box.append_text(item)
    if free:
        inner = box.get_child()
        inner.set_text(node.get("value", ""))
        S.set(node, inner.get_text())
        inner.connect("changed", lambda _: later(node, lambda: S.set(node, inner.get_text())))
    else:
        box.set_active(node["items"].index(node["value"]))
        S.set(node, node["value"])
        box.connect("changed", lambda _: later(node, lambda: S.set(node, box.get_active_text())))
    return with_label(node, box)


def dropdown(node):
    down = Gtk.DropDown.new_from_strings(node["items"])
    down.set_selected(node["items"].index(node["value"]))
    S.set(node, node["value"])
    down.connect("notify::selected", lambda *_: later(node, lambda: S.set(node, node["items"][down.get_selected()])))
    return with_label(node, down)


def number(node):
    adjustment = Gtk.Adjustment(value=node.get("value", 0), upper=node["max"], step_increment=1, page_increment=10)
    if node["kind"] == "spin":
        field = Gtk.SpinButton(adjustment=adjustment)
    else:
        field = Gtk.Scale(adjustment=adjustment, digits=0)
        field.set_size_request(140, -1)
    S.set(node, round(adjustment.get_value()))
    adjustment.connect("value-changed", lambda a: later(node, lambda: S.set(node, round(a.get_value()))))
    return with_label(node, field)


def switch(node):
    toggle = Gtk.Switch(active=node.get("value", False), halign=Gtk.Align.START)
    S.set(node, toggle.get_active())
    toggle.connect("notify::active", lambda *_: later(node, lambda: S.set(node, toggle.get_active())))
    return with_label(node, toggle)


def check(node):
    box = Gtk.CheckButton(label=node["name"], active=node.get("value", False))
    S.set(node, box.get_active())
    box.connect("toggled", lambda _: later(node, lambda: S.set(node, box.get_active())))
    return box


def radio(node):
    group = Gtk.Box(orientation=V)
    one = None
    for item in node["items"]:
        if NEW:
            button = Gtk.CheckButton(label=item, group=one)
        else:
            button = Gtk.RadioButton.new_with_label_from_widget(one, item)
        one = one or button
        button.set_active(item == node["value"])
        button.connect("toggled", lambda b, item=item: b.get_active() and later(node, lambda: S.set(node, item)))
        put(group, button)
    S.set(node, node["value"])
    return group


def question(node):
    """A dialog that must be closed."""
    S.ask(node)
    dialog = Gtk.Window(title="Please note", transient_for=WINDOW, modal=True)
    box = Gtk.Box(orientation=V, spacing=8)
    put(box, label(node["name"] + " was pressed."))
    close = Gtk.Button(label="Understood")

    def shut(*_):
        S.ask(None)
        dialog.destroy()
    close.connect("clicked", shut)
    put(box, close)
    inside(dialog, box)
    dialog.present() if NEW else dialog.show_all()


def button(node):
    if node.get("labelling") == "tooltip":
        part = Gtk.Button.new_from_icon_name("document-save-symbolic") if NEW else Gtk.Button.new_from_icon_name("document-save-symbolic", Gtk.IconSize.BUTTON)
        part.set_tooltip_text(node["name"])
    else:
        part = Gtk.Button(label=node["name"])
    times = [0]

    def pressed():
        times[0] += 1
        S.event(node, "clicked")
        if node.get("habits", {}).get("rename"):
            part.set_label(f"{node['name']} ({times[0]})")
        if node.get("habits", {}).get("dialog"):
            question(node)
    part.connect("clicked", lambda _: later(node, pressed))
    return part


def link(node):
    part = Gtk.LinkButton.new_with_label("http://127.0.0.1:1/", node["name"])
    part.connect("activate-link", lambda _: later(node, lambda: S.event(node, "clicked")) or True)
    return part


def menu(node):
    part = Gtk.MenuButton()
    if NEW:
        part.set_label(node["name"])
        box = Gtk.Box(orientation=V)
        for item in node["items"]:
            choice = put(box, Gtk.Button(label=item))
            choice.connect("clicked", lambda _, item=item: S.event(node, item))
        part.set_popover(inside(Gtk.Popover(), box))
    else:
        part.set_label(node["name"])
        choices = Gtk.Menu()
        for item in node["items"]:
            choice = Gtk.MenuItem(label=item)
            choice.connect("activate", lambda _, item=item: S.event(node, item))
            choices.append(choice)
        choices.show_all()
        part.set_popup(choices)
    return part


def rows(node):
    area = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER)
    area.set_min_content_height(110)
    choices = Gtk.ListBox()
    named(choices, node["name"]) if node["labelling"] == "own" else None
    texts = {}
    busy = [False]

    def fill():
        busy[0] = True
        while choices.get_row_at_index(0):
            choices.remove(choices.get_row_at_index(0))
        for item in node["items"]:
            row = inside(Gtk.ListBoxRow(), label(item))
            texts[row] = item
            choices.append(row) if NEW else choices.add(row)
            if not NEW:
                row.show_all()
        busy[0] = False

    def selected(_, row):
        if busy[0] or row is None:
            return
        later(node, lambda: S.set(node, texts[row]))
        if node.get("habits", {}).get("redraw"):
            GLib.idle_add(lambda: fill() and False)
    fill()
    S.set(node, "")
    choices.set_selection_mode(Gtk.SelectionMode.SINGLE)
    choices.connect("row-selected", selected)
    inside(area, choices)
    return over(node, area)


def over(node, widget):
    if node["labelling"] != "above":
        return widget
    box = Gtk.Box(orientation=V)
    put(box, label(node["name"]))
    put(box, widget, True)
    return box


def table(node):
    area = Gtk.ScrolledWindow()
    area.set_min_content_height(120)
    store = Gtk.ListStore(*[str] * len(node["columns"]))
    for i, item in enumerate(node["items"]):
        store.append([item] + [f"{c.lower()} {i + 1}" for c in node["columns"][1:]])
    view = Gtk.TreeView(model=store)
    for i, title in enumerate(node["columns"]):
        view.append_column(Gtk.TreeViewColumn(title, Gtk.CellRendererText(), text=i))
    named(view, node["name"]) if node["labelling"] == "own" else None
    S.set(node, "")

    def changed(selection):
        model, at = selection.get_selected()
        if at:
            later(node, lambda: S.set(node, model[at][0]))
    view.get_selection().unselect_all()
    view.get_selection().connect("changed", changed)
    return over(node, inside(area, view))


MAKERS = {
    "column": column, "row": column, "grid": grid, "frame": frame, "paned": paned, "scrolled": scrolled, "notebook": notebook,
    "expander": expander, "entry": entry, "password": entry, "readonly": entry, "text": text, "combo": dropdown if NEW else combo,
    "editcombo": combo, "spin": number, "slider": number, "switch": switch, "check": check, "radio": radio, "button": button,
    "link": link, "menu": menu, "list": rows, "table": table, "note": lambda node: label(node["name"]),
}


def make(node):
    widget = MAKERS[node["kind"]](node)
    if node.get("disabled"):
        widget.set_sensitive(False)
    return widget


def main():
    global WINDOW
    WINDOW = Gtk.Window(title=W["title"], default_width=W["width"], default_height=W["height"])
    around = inside(Gtk.ScrolledWindow(), make(W["root"]))
    inside(WINDOW, around)
    if NEW:
        WINDOW.present()
        loop = GLib.MainLoop()
        WINDOW.connect("close-request", lambda _: loop.quit())
        GLib.timeout_add(300, lambda: S.start() and False)
        loop.run()
    else:
        WINDOW.connect("destroy", Gtk.main_quit)
        WINDOW.show_all()
        GLib.timeout_add(300, lambda: S.start() and False)
        Gtk.main()


main()
