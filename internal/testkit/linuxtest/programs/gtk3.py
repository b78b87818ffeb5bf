"""A window of GTK 3 with one control of every kind."""

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, GLib, Gtk

from oracle import Oracle, arguments


def named(widget, name):
    widget.get_accessible().set_name(name)
    return widget


def row(*widgets):
    box = Gtk.Box(spacing=6)
    for widget in widgets:
        box.pack_start(widget, isinstance(widget, (Gtk.Entry, Gtk.Scale, Gtk.SpinButton)), True, 0)
    return box


class Window(Gtk.Window):
    def __init__(self, args):
        super().__init__(title=args.title, default_width=700, default_height=600)
        self.places = {}
        self.oracle = Oracle(args, self.where)
        self.add(self.rows(args.rows) if args.rows else self.controls())
        self.connect("key-press-event", self.on_key)
        self.connect("notify::is-active", lambda *_: self.oracle.set(focused=self.is_active()))
        self.connect_after("size-allocate", lambda *_: GLib.idle_add(self.oracle.write))
        self.connect("destroy", Gtk.main_quit)
        self.show_all()
        self.get_frame_clock().connect("after-paint", lambda *_: GLib.idle_add(self.oracle.appear))

    def where(self):
        places = {}
        for name, widget in self.places.items():
            if widget.get_mapped():
                x, y = widget.translate_coordinates(self, 0, 0)
                places[name] = (x, y, widget.get_allocated_width(), widget.get_allocated_height())
        return places

    def place(self, widget, name):
        self.places[name] = widget
        return widget

    def button(self, name, do, place=None):
        button = Gtk.Button(label=name)
        button.connect("clicked", lambda _: do())
        return self.place(button, place or name)

    def adds(self, name, key):
        return self.button(name, lambda: self.oracle.add(key))

    def labelled(self, name, widget):
        """A control, named for the bus too, beside a label that is only to be seen."""
        return row(Gtk.Label(label=name), self.place(named(widget, name), name))

    # The controls, from the top.

    def controls(self):
        columns = Gtk.Box(spacing=12, border_width=8, homogeneous=True)
        for widgets in self.left(), self.right():
            column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
            for widget in widgets:
                column.pack_start(widget, widget is self.canvas, True, 0)
            columns.pack_start(column, True, True, 0)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        box.pack_start(self.menu(), False, True, 0)
        box.pack_start(columns, True, True, 0)
        return box

    def menu(self):
        file = Gtk.MenuItem(label="File")
        file.set_submenu(Gtk.Menu())
        for name in "New", "Quit-not":
            item = Gtk.MenuItem(label=name)
            item.connect("activate", lambda item: self.oracle.set(menu=item.get_label()))
            file.get_submenu().append(item)
        bar = Gtk.MenuBar()
        bar.append(self.place(file, "File"))
        return bar

    def left(self):
        self.canvas = None
        times = Gtk.Label(label="Pressed 0 times")

        def press():
            self.oracle.add("presses")
            times.set_label(f"Pressed {self.oracle.state['presses']} times")

        disabled = self.adds("Disabled", "presses")
        disabled.set_sensitive(False)
        twins = [self.button("Twin", lambda n=n: self.oracle.set(twin=n), f"Twin {n}") for n in (1, 2)]
        agree = self.place(Gtk.CheckButton(label="Agree"), "Agree")
        agree.connect("toggled", lambda _: self.oracle.set(agree=agree.get_active()))

        def slowly():
            self.oracle.add("slow")
            times.set_label(f"Slow {self.oracle.state['slow']} times")

        def slow():
            GLib.timeout_add(150, slowly)

        return [row(self.button("Press", press), times), row(disabled, *twins), agree, *self.fields(),
                row(self.button("Slow", slow), self.button("Dead", lambda: None)), Gtk.Label(label="Status: ready", xalign=0)]

    def fields(self):
        name = Gtk.Entry()
        label = Gtk.Label(label="Full name", mnemonic_widget=name)
        name.connect("changed", lambda e: self.oracle.set(name=e.get_text()))
        password = Gtk.Entry(visibility=False, input_purpose=Gtk.InputPurpose.PASSWORD)
        password.connect("changed", lambda e: self.oracle.set(password=e.get_text()))
        volume = Gtk.Scale(adjustment=Gtk.Adjustment(value=30, upper=100, step_increment=1, page_increment=10), digits=0)
        volume.connect("value-changed", lambda s: self.oracle.set(volume=s.get_value()))
        count = Gtk.SpinButton(adjustment=Gtk.Adjustment(value=5, upper=100, step_increment=1, page_increment=10))
        count.connect("value-changed", lambda s: self.oracle.set(count=s.get_value_as_int()))
        colour = Gtk.ComboBoxText()
        for text in "Red", "Green", "Blue":
            colour.append_text(text)
        colour.set_active(0)
        colour.connect("changed", lambda c: self.oracle.set(colour=c.get_active_text()))
        notes = Gtk.TextView(accepts_tab=False)
        notes.get_buffer().connect("changed", lambda b: self.oracle.set(notes=b.get_property("text")))
        scrolled = Gtk.ScrolledWindow(shadow_type=Gtk.ShadowType.IN, min_content_height=80)
        scrolled.add(self.place(named(notes, "Notes"), "Notes"))
        return [row(label, self.place(name, "Full name")), self.labelled("Password", password), self.labelled("Volume", volume),
                self.labelled("Count", count), self.labelled("Colour", colour), Gtk.Label(label="Notes", xalign=0), scrolled]

    def right(self):
        ghost = self.adds("Ghost", "ghost")

        def hide():
            ghost.hide()
            self.oracle.set(hidden=True)

        self.canvas = self.make_canvas()
        return [self.tabs(), Gtk.Label(label="Fruits", xalign=0), self.fruits(),
                row(self.button("Shuffle", self.shuffle), self.button("Open dialog", self.dialog)),
                row(self.button("Hide", hide), ghost), self.canvas]

    def tabs(self):
        book = Gtk.Notebook()
        pages = Gtk.Label(label="This is first"), row(self.adds("On second", "second"))
        for page, name in zip(pages, ("First", "Second")):
            tab = self.place(Gtk.Label(label=name), name)
            book.append_page(page, tab)
        book.connect("switch-page", lambda _, page, n: self.oracle.set(tab=("First", "Second")[n]))
        return book

    def fruits(self):
        self.list = self.place(named(Gtk.ListBox(), "Fruits"), "Fruits")
        self.list.connect("row-selected", lambda _, row: self.oracle.set(fruit=row.text if row else ""))
        self.fill(range(1, 41))
        return self.scrolled(self.list, 150)

    def fill(self, numbers):
        for n in numbers:
            row = named(Gtk.ListBoxRow(), f"Fruit {n}")
            row.text = f"Fruit {n}"
            row.add(Gtk.Label(label=row.text, xalign=0))
            self.list.add(self.place(row, row.text))
        self.list.show_all()

    def shuffle(self):
        rows = self.list.get_children()
        numbers = [int(row.text.split()[1]) for row in rows]
        for row in rows:
            row.destroy()
        self.fill(reversed(numbers))
        self.oracle.add("shuffled")

    def scrolled(self, child, height):
        scrolled = Gtk.ScrolledWindow(shadow_type=Gtk.ShadowType.IN, min_content_height=height, overlay_scrolling=False)
        scrolled.add(child)
        scrolled.get_vadjustment().connect("value-changed", lambda a: self.oracle.set(scroll=round(a.get_value())))
        return scrolled

    def dialog(self):
        dialog = Gtk.Dialog(title="Really?", transient_for=self, modal=True)
        dialog.add_button("Yes", Gtk.ResponseType.YES)
        dialog.add_button("No", Gtk.ResponseType.NO)
        dialog.get_content_area().add(Gtk.Label(label="It cannot be undone.", margin=20))

        def answer(_, response):
            dialog.destroy()
            self.oracle.set(dialog={Gtk.ResponseType.YES: "yes", Gtk.ResponseType.NO: "no"}.get(response, "closed"))

        dialog.connect("response", answer)
        dialog.show_all()
        self.oracle.set(dialog="open")

    def make_canvas(self):
        canvas = self.place(named(Gtk.EventBox(), "Canvas"), "Canvas")
        canvas.add(Gtk.Frame())
        canvas.add_events(Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.BUTTON_RELEASE_MASK | Gdk.EventMask.BUTTON_MOTION_MASK)
        counts = {Gdk.EventType.BUTTON_PRESS: 1, Gdk.EventType.DOUBLE_BUTTON_PRESS: 2, Gdk.EventType.TRIPLE_BUTTON_PRESS: 3}

        def press(_, event):
            # GTK says of a second press first that it is one, then that it is the second.
            if event.type != Gdk.EventType.BUTTON_PRESS:
                self.oracle.state["clicks"].pop()
            self.oracle.press(event.button, counts[event.type], event.x, event.y)

        canvas.connect("button-press-event", press)
        canvas.connect("button-release-event", lambda _, e: self.oracle.release(e.button, e.x, e.y))
        return canvas

    def rows(self, n):
        model = Gtk.ListStore(str)
        for i in range(1, n + 1):
            model.append([f"Row {i}"])
        view = Gtk.TreeView(model=model, fixed_height_mode=True)
        column = Gtk.TreeViewColumn("Rows", Gtk.CellRendererText(), text=0)
        column.set_sizing(Gtk.TreeViewColumnSizing.FIXED)
        view.append_column(column)

        def selected(selection):
            model, at = selection.get_selected()
            self.oracle.set(row=model[at][0] if at else "")

        view.get_selection().connect("changed", selected)
        # A tree view selects its first row when it gets the focus, so not from the start.
        view.set_can_focus(False)
        self.connect_after("focus-in-event", lambda *_: GLib.idle_add(view.set_can_focus, True) and False)
        return self.scrolled(self.place(named(view, "Rows"), "Rows"), 500)

    def on_key(self, _, event):
        mask, held = Gdk.ModifierType, event.state
        self.oracle.key(Gdk.keyval_name(event.keyval) or "", chr(Gdk.keyval_to_unicode(event.keyval)), {
            "ctrl": held & mask.CONTROL_MASK, "alt": held & mask.MOD1_MASK,
            "shift": held & mask.SHIFT_MASK, "super": held & mask.MOD4_MASK})


args = arguments()
GLib.set_prgname("fixture-gtk3")
window = Window(args)
Gtk.main()
