"""A window of GTK 4 with one control of every kind."""

import gi

gi.require_version("Gtk", "4.0")
gi.require_version("Gdk", "4.0")
from gi.repository import Gdk, Gio, GLib, Gtk

from oracle import Oracle, arguments


def named(widget, name):
    widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
    return widget


def row(*widgets):
    box = Gtk.Box(spacing=6)
    for widget in widgets:
        widget.set_hexpand(isinstance(widget, (Gtk.Entry, Gtk.PasswordEntry, Gtk.Scale, Gtk.SpinButton)))
        box.append(widget)
    return box


class Window(Gtk.Window):
    def __init__(self, args):
        super().__init__(title=args.title, default_width=700, default_height=600)
        self.places = {}
        self.oracle = Oracle(args, self.where)
        self.set_child(self.rows(args.rows) if args.rows else self.controls())
        keys = Gtk.EventControllerKey(propagation_phase=Gtk.PropagationPhase.CAPTURE)
        keys.connect("key-pressed", self.on_key)
        self.add_controller(keys)
        self.connect("notify::is-active", lambda *_: self.oracle.set(focused=self.is_active()))
        self.connect("map", self.on_map)

    def on_map(self, _):
        self.get_surface().connect("layout", lambda *_: GLib.idle_add(self.oracle.write))
        self.get_frame_clock().connect("after-paint", lambda *_: GLib.idle_add(self.oracle.appear))

    def where(self):
        places = {}
        for name, widget in self.places.items():
            known, rect = widget.compute_bounds(self)
            if known and widget.get_mapped():
                places[name] = [round(n) for n in (rect.get_x(), rect.get_y(), rect.get_width(), rect.get_height())]
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
        columns = Gtk.Box(spacing=12, margin_start=8, margin_end=8, margin_top=8, margin_bottom=8, homogeneous=True)
        for widgets in self.left(), self.right():
            column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
            for widget in widgets:
                column.append(widget)
            columns.append(column)
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        box.append(self.menu())
        box.append(columns)
        return box

    def menu(self):
        actions, file, bar = Gio.SimpleActionGroup(), Gio.Menu(), Gio.Menu()
        for name in "New", "Quit-not":
            action = Gio.SimpleAction(name=name.lower())
            action.connect("activate", lambda _, __, name=name: self.oracle.set(menu=name))
            actions.add_action(action)
            file.append(name, "file." + name.lower())
        self.insert_action_group("file", actions)
        bar.append_submenu("File", file)
        widget = Gtk.PopoverMenuBar(menu_model=bar)
        self.place(widget.get_first_child(), "File")
        return widget

    def left(self):
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
        password = Gtk.PasswordEntry()
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
        scrolled = Gtk.ScrolledWindow(has_frame=True, min_content_height=80)
        scrolled.set_child(self.place(named(notes, "Notes"), "Notes"))
        return [row(label, self.place(name, "Full name")), self.labelled("Password", password), self.labelled("Volume", volume),
                self.labelled("Count", count), self.labelled("Colour", colour), Gtk.Label(label="Notes", xalign=0), scrolled]

    def right(self):
        ghost = self.adds("Ghost", "ghost")

        def hide():
            ghost.hide()
            self.oracle.set(hidden=True)

        return [self.tabs(), Gtk.Label(label="Fruits", xalign=0), self.fruits(),
                row(self.button("Shuffle", self.shuffle), self.button("Open dialog", self.dialog)),
                row(self.button("Hide", hide), ghost), self.make_canvas()]

    def tabs(self):
        book = Gtk.Notebook()
        pages = Gtk.Label(label="This is first"), row(self.adds("On second", "second"))
        for page, name in zip(pages, ("First", "Second")):
            tab = self.place(Gtk.Label(label=name), name)
            book.append_page(page, tab)
            named(tab.get_parent(), name)  # else GTK 4.8 names them all "Tab"
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
            row.set_child(Gtk.Label(label=row.text, xalign=0))
            self.list.append(self.place(row, row.text))

    def shuffle(self):
        numbers = []
        while row := self.list.get_first_child():
            numbers.append(int(row.text.split()[1]))
            self.list.remove(row)
        self.fill(reversed(numbers))
        self.oracle.add("shuffled")

    def scrolled(self, child, height):
        scrolled = Gtk.ScrolledWindow(has_frame=True, min_content_height=height, overlay_scrolling=False)
        scrolled.set_child(child)
        scrolled.get_vadjustment().connect("value-changed", lambda a: self.oracle.set(scroll=round(a.get_value())))
        return scrolled

    def dialog(self):
        dialog = Gtk.Dialog(title="Really?", transient_for=self, modal=True)
        dialog.add_button("Yes", Gtk.ResponseType.YES)
        dialog.add_button("No", Gtk.ResponseType.NO)
        dialog.get_content_area().append(Gtk.Label(label="It cannot be undone."))

        def answer(_, response):
            dialog.destroy()
            self.oracle.set(dialog={Gtk.ResponseType.YES: "yes", Gtk.ResponseType.NO: "no"}.get(response, "closed"))

        dialog.connect("response", answer)
        dialog.present()
        self.oracle.set(dialog="open")

    def make_canvas(self):
        role = {}
        if Gtk.get_minor_version() >= 12:  # a generic element has no name
            role["accessible_role"] = Gtk.AccessibleRole.IMG
        canvas = self.place(named(Gtk.DrawingArea(vexpand=True, **role), "Canvas"), "Canvas")
        clicks = Gtk.GestureClick(button=0)
        clicks.connect("pressed", lambda g, count, x, y: self.oracle.press(g.get_current_button(), count, x, y))
        canvas.add_controller(clicks)
        drags = Gtk.GestureDrag(button=0)

        def end(gesture, x, y):
            _, x0, y0 = gesture.get_start_point()
            self.oracle.release(gesture.get_current_button(), x0 + x, y0 + y)

        drags.connect("drag-end", end)
        canvas.add_controller(drags)
        drags.group(clicks)
        return Gtk.Frame(child=canvas)

    def rows(self, n):
        model = Gtk.SingleSelection(autoselect=False, can_unselect=True)
        model.set_model(Gtk.StringList.new([f"Row {i}" for i in range(1, n + 1)]))
        factory = Gtk.SignalListItemFactory()
        factory.connect("setup", lambda _, item: item.set_child(Gtk.Label(xalign=0)))
        factory.connect("bind", lambda _, item: item.get_child().set_label(item.get_item().get_string()))

        def selected(model, _):
            item = model.get_selected_item()
            self.oracle.set(row=item.get_string() if item else "")

        model.connect("notify::selected", selected)
        return self.scrolled(self.place(named(Gtk.ListView(model=model, factory=factory), "Rows"), "Rows"), 500)

    def on_key(self, _, keyval, code, held):
        mask = Gdk.ModifierType
        self.oracle.key(Gdk.keyval_name(keyval) or "", chr(Gdk.keyval_to_unicode(keyval)), {
            "ctrl": held & mask.CONTROL_MASK, "alt": held & mask.ALT_MASK,
            "shift": held & mask.SHIFT_MASK, "super": held & mask.SUPER_MASK})
        return False


args = arguments()
GLib.set_prgname("fixture-gtk4")
Gtk.init()
loop = GLib.MainLoop()
window = Window(args)
window.connect("destroy", lambda _: loop.quit())
window.present()
loop.run()
