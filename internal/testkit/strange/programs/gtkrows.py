"""The lists, tables, trees and menus of strange windows in GTK."""

from gtkbase import *


def actions(items, chosen):
    """A menu model with its actions; chosen is called with the item."""
    model, group = Gio.Menu(), Gio.SimpleActionGroup()
    for i, item in enumerate(items):
        action = Gio.SimpleAction.new(f"i{i}", None)
        action.connect("activate", lambda *_, item=item: chosen(item))
        group.add_action(action)
        model.append(item, f"own.i{i}")
    return model, group


def old_menu(items, chosen):
    """A menu of GTK 3."""
    choices = Gtk.Menu()
    for item in items:
        choice = Gtk.MenuItem(label=item)
        choice.connect("activate", lambda _, item=item: chosen(item))
        choices.append(choice)
    choices.show_all()
    return choices


def menu(node):
    part = Gtk.MenuButton(label=node["name"])
    if NEW:
        model, group = actions(node["items"], lambda item: S.event(node, item))
        part.insert_action_group("own", group)
        part.set_menu_model(model)
    else:
        part.set_popup(old_menu(node["items"], lambda item: S.event(node, item)))
    return part


def menu_bar(node):
    if not NEW:
        bar = Gtk.MenuBar()
        for title, leaves in zip(node["items"], node["leaves"]):
            top = Gtk.MenuItem(label=title)
            top.set_submenu(old_menu(leaves, lambda item: S.event(node, item)))
            bar.append(top)
        return bar
    whole, group = Gio.Menu(), Gio.SimpleActionGroup()
    for i, (title, leaves) in enumerate(zip(node["items"], node["leaves"])):
        part = Gio.Menu()
        for j, item in enumerate(leaves):
            action = Gio.SimpleAction.new(f"i{i}x{j}", None)
            action.connect("activate", lambda *_, item=item: S.event(node, item))
            group.add_action(action)
            part.append(item, f"own.i{i}x{j}")
        whole.append_submenu(title, part)
    bar = Gtk.PopoverMenuBar.new_from_model(whole)
    bar.insert_action_group("own", group)
    return bar


def with_choices(node, widget, row_at):
    """The widget with a context menu; row_at(x, y) is the text of the row at the place, if any."""
    if not node.get("choices"):
        return

    def chosen(row):
        return lambda item: S.event(node, f"{row}: {item}")

    def ask(x, y):
        row = row_at(x, y)
        if row is None:
            return
        S.set(node, row, "menu")
        if NEW:
            model, group = actions(node["choices"], chosen(row))
            widget.insert_action_group("own", group)
            popover = Gtk.PopoverMenu.new_from_model(model)
            popover.set_parent(widget)
            spot = Gdk.Rectangle()
            spot.x, spot.y, spot.width, spot.height = int(x), int(y), 1, 1
            popover.set_pointing_to(spot)
            popover.popup()
        else:
            popup = old_menu(node["choices"], chosen(row))
            popup.attach_to_widget(widget)
            popup.popup_at_pointer(None)
    if NEW:
        click = Gtk.GestureClick(button=3)
        click.connect("pressed", lambda _, n, x, y: ask(x, y))
        widget.add_controller(click)
    else:
        widget.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
        widget.connect("button-press-event", lambda _, e: e.button == 3 and (ask(e.x, e.y) or True))


def rows(node):
    if habit(node, "recycle"):
        return recycled(node) if NEW else modelled(node)
    choices = Gtk.ListBox()
    texts = {}
    busy = [False]

    def fill(chosen=""):
        busy[0] = True
        while choices.get_row_at_index(0):
            choices.remove(choices.get_row_at_index(0))
        for item in node["items"]:
            row = inside(Gtk.ListBoxRow(), label(item))
            texts[row] = item
            choices.append(row) if NEW else choices.add(row)
            if not NEW:
                row.show_all()
            if item == chosen:
                choices.select_row(row)
        busy[0] = False

    def selected(_, row):
        if busy[0] or row is None:
            return
        later(node, lambda: S.set(node, texts[row]))
        if habit(node, "redraw"):
            GLib.idle_add(lambda: fill(texts[row]) and False)
    choices.set_selection_mode(Gtk.SelectionMode.SINGLE)
    fill()
    S.set(node, "")
    choices.connect("row-selected", selected)
    with_choices(node, choices, lambda x, y: texts.get(choices.get_row_at_y(int(y))))
    return over(node, scrolling(choices, 110), choices)


def factory(text_of):
    """Makes labels; text_of(item) is the text of a row."""
    each = Gtk.SignalListItemFactory()
    each.connect("setup", lambda _, item: item.set_child(label("")))
    each.connect("bind", lambda _, item: item.get_child().set_label(text_of(item.get_item())))
    return each


def recycled(node):
    """A list view of GTK 4, which uses the rows in view again for others."""
    selection = Gtk.SingleSelection(model=Gtk.StringList.new(node["items"]), autoselect=False, can_unselect=True)
    selection.set_selected(Gtk.INVALID_LIST_POSITION)
    view = Gtk.ListView(model=selection, factory=factory(lambda item: item.get_string()))
    S.set(node, "")

    def changed(*_):
        item = selection.get_selected_item()
        if item:
            later(node, lambda: S.set(node, item.get_string()))
    selection.connect("notify::selected", changed)
    node["choices"] = None
    return over(node, scrolling(view, 110), view)


def modelled(node):
    """A tree view of GTK 3 with one column."""
    store = Gtk.ListStore(str)
    for item in node["items"]:
        store.append([item])
    view = Gtk.TreeView(model=store, headers_visible=False)
    view.append_column(Gtk.TreeViewColumn("", Gtk.CellRendererText(), text=0))
    S.set(node, "")
    view.get_selection().unselect_all()
    view.get_selection().connect("changed", lambda selection: select_row(node, *selection.get_selected()))

    def row_at(x, y):
        found = view.get_path_at_pos(int(x), int(y))
        return store[found[0]][0] if found else None
    with_choices(node, view, row_at)
    return over(node, scrolling(view, 110), view)


def select_row(node, model, at):
    """The row's first cell is the value."""
    if at:
        item = model[at][0]
        later(node, lambda: S.set(node, item))


def check_list(node):
    choices = Gtk.ListBox()
    for i, item in enumerate(node["items"]):
        box = Gtk.CheckButton(label=item)
        S.set(node, False, i)
        box.connect("toggled", lambda b, i=i: later(node, lambda: S.set(node, b.get_active(), i)))
        row = inside(Gtk.ListBoxRow(), box)
        choices.append(row) if NEW else choices.add(row)
    return over(node, scrolling(choices, 110), choices)


class Line(GObject.Object):
    """A row of a table of GTK 4."""

    def __init__(self, number, texts):
        super().__init__()
        self.number, self.texts = number, texts


def table(node):
    if NEW and habit(node, "custom") != "old":
        return column_view(node)
    store = Gtk.ListStore(*[str] * len(node["columns"]))
    for i in range(len(node["items"])):
        store.append([cell(node, i, j) for j in range(len(node["columns"]))])
    view = Gtk.TreeView(model=store)
    for j, title in enumerate(node["columns"]):
        renderer = Gtk.CellRendererText(editable=node["kind"] == "sheet")

        def edited(_, path, text, j=j):
            store[path][j] = text
            S.set(node, text, f"{path}/{j}")
        renderer.connect("edited", edited)
        view.append_column(Gtk.TreeViewColumn(title, renderer, text=j))
    if node["kind"] == "table":
        S.set(node, "")
        view.get_selection().unselect_all()
        view.get_selection().connect("changed", lambda selection: select_row(node, *selection.get_selected()))
    return over(node, scrolling(view, 120), view)


def column_view(node):
    """A table of GTK 4; a sheet has a field in each cell."""
    sheet = node["kind"] == "sheet"
    store = Gio.ListStore(item_type=Line)
    for i in range(len(node["items"])):
        store.append(Line(i, [cell(node, i, j) for j in range(len(node["columns"]))]))
    selection = Gtk.NoSelection(model=store) if sheet else Gtk.SingleSelection(model=store, autoselect=False, can_unselect=True)
    view = Gtk.ColumnView(model=selection)
    for j, title in enumerate(node["columns"]):
        view.append_column(Gtk.ColumnViewColumn(title=title, factory=editors(node, j) if sheet else factory(lambda line, j=j: line.texts[j])))
    if not sheet:
        S.set(node, "")
        selection.set_selected(Gtk.INVALID_LIST_POSITION)

        def changed(*_):
            line = selection.get_selected_item()
            if line:
                later(node, lambda: S.set(node, line.texts[0]))
        selection.connect("notify::selected", changed)
    return over(node, scrolling(view, 120), view)


def editors(node, j):
    """Makes labels that can be edited."""
    each = Gtk.SignalListItemFactory()

    def setup(_, item):
        field = Gtk.EditableLabel()
        item.set_child(field)

        def ended(*_):
            line = item.get_item()
            if line and not field.get_editing() and field.get_text() != line.texts[j]:
                line.texts[j] = field.get_text()
                S.set(node, field.get_text(), f"{line.number}/{j}")
        field.connect("notify::editing", ended)
        field.connect("changed", ended)
    each.connect("setup", setup)

    def bind(_, item):
        line = item.get_item()
        item.get_child().set_text(line.texts[j])
    each.connect("bind", bind)
    return each


def tree(node):
    if NEW:
        return tree_list(node)
    store = Gtk.TreeStore(str)
    for item, leaves in zip(node["items"], node["leaves"]):
        top = store.append(None, [item])
        for leaf in leaves:
            store.append(top, [leaf])
    view = Gtk.TreeView(model=store, headers_visible=False)
    view.append_column(Gtk.TreeViewColumn("", Gtk.CellRendererText(), text=0))
    S.set(node, "")
    for i in range(len(node["items"])):
        S.set(node, False, i)
    view.connect("row-expanded", lambda _, at, path: S.set(node, True, path.to_string()))
    view.connect("row-collapsed", lambda _, at, path: S.set(node, False, path.to_string()))
    view.get_selection().unselect_all()
    view.get_selection().connect("changed", lambda selection: select_row(node, *selection.get_selected()))
    return over(node, scrolling(view, 110), view)


def tree_list(node):
    """A tree of GTK 4: a list view with expanders."""
    below = dict(zip(node["items"], node["leaves"]))
    model = Gtk.TreeListModel.new(Gtk.StringList.new(node["items"]), False, False, lambda item: Gtk.StringList.new(below[item.get_string()]) if item.get_string() in below else None)
    selection = Gtk.SingleSelection(model=model, autoselect=False, can_unselect=True)
    selection.set_selected(Gtk.INVALID_LIST_POSITION)
    each = Gtk.SignalListItemFactory()
    each.connect("setup", lambda _, item: item.set_child(Gtk.TreeExpander(child=label(""))))

    def bind(_, item):
        row = item.get_item()
        item.get_child().set_list_row(row)
        item.get_child().get_child().set_label(row.get_item().get_string())
    each.connect("bind", bind)
    S.set(node, "")
    for i in range(len(node["items"])):
        S.set(node, False, i)
        row = model.get_child_row(i)
        row.connect("notify::expanded", lambda row, _, i=i: S.set(node, row.get_expanded(), i))
        SHOWN.setdefault("rows", []).append(row)

    def changed(*_):
        row = selection.get_selected_item()
        if row:
            text = row.get_item().get_string()
            later(node, lambda: S.set(node, text))
    selection.connect("notify::selected", changed)
    view = Gtk.ListView(model=selection, factory=each)
    return over(node, scrolling(view, 110), view)


MAKERS.update({"menu": menu, "menubar": menu_bar, "list": rows, "checklist": check_list, "table": table, "sheet": table, "tree": tree})
