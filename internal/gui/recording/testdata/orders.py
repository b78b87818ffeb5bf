"""A form in GTK 3. Its state is written to the file of the first argument after each change. With "changed" as second
argument some elements have moved, or have other names."""
import json
import sys
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, GLib

changed = len(sys.argv) > 2 and sys.argv[2] == "changed"
state = {}


def put(key, value):
    state[key] = value
    with open(sys.argv[1] + ".new", "w") as f:
        json.dump(state, f)
    import os
    os.replace(sys.argv[1] + ".new", sys.argv[1])


GLib.set_prgname("orders")
window = Gtk.Window(title="Orders")
window.set_default_size(700, 560)
window.move(40, 40)
window.connect("destroy", Gtk.main_quit)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
window.add(box)

bar = Gtk.MenuBar()
for title, items in (("File", ["New order", "Archive"]), ("View", ["Details"])):
    head = Gtk.MenuItem(label=title)
    menu = Gtk.Menu()
    for name in items:
        item = Gtk.CheckMenuItem(label=name) if name == "Details" else Gtk.MenuItem(label=name)
        item.connect("activate", lambda i, n=name: put("menu", n))
        menu.append(item)
    head.set_submenu(menu)
    bar.append(head)
box.pack_start(bar, False, False, 0)

grid = Gtk.Grid(column_spacing=6, row_spacing=6)


def row(n, name, widget):
    label = Gtk.Label(label=name, xalign=0)
    label.set_mnemonic_widget(widget)
    grid.attach(label, 0, n, 1, 1)
    grid.attach(widget, 1, n, 1, 1)
    return widget


def entry(key, name, n, secret=False):
    e = Gtk.Entry()
    e.set_width_chars(40)
    e.set_visibility(not secret)
    e.connect("changed", lambda w: put(key, w.get_text()))
    e.connect("activate", lambda w: put("entered", key))
    return row(n, name, e)


order = [0, 1, 2, 3, 4, 5, 6]
if changed:
    order = [3, 0, 4, 5, 1, 6, 2]
customer = entry("customer", "Customer full name" if changed else "Customer name", order[0])
entry("city", "City", order[1])
entry("secret", "Password", order[2], True)
entry("pin", "Door PIN", order[3])
combo = Gtk.ComboBoxText()
for name in ("Letter", "Parcel", "Courier"):
    combo.append_text(name)
combo.set_active(0)
combo.connect("changed", lambda w: put("shipping", w.get_active_text()))
row(order[4], "Shipping", combo)
spin = Gtk.SpinButton.new_with_range(0, 50, 1)
spin.connect("value-changed", lambda w: put("count", w.get_value_as_int()))
row(order[5], "Count", spin)
scale = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 10, 1)
scale.set_hexpand(True)
scale.connect("value-changed", lambda w: put("priority", int(w.get_value())))
row(order[6], "Priority", scale)
box.pack_start(grid, False, False, 0)

gift = Gtk.CheckButton(label="Wrap as a gift" if changed else "Wrap as gift")
gift.connect("toggled", lambda w: put("gift", w.get_active()))
radios = Gtk.Box(spacing=6)
first = Gtk.RadioButton.new_with_label(None, "Pay now")
second = Gtk.RadioButton.new_with_label_from_widget(first, "Pay later")
second.connect("toggled", lambda w: put("later", w.get_active()))
radios.pack_start(second if changed else first, False, False, 0)
radios.pack_start(first if changed else second, False, False, 0)

notebook = Gtk.Notebook()
notes = Gtk.TextView()
notes.get_accessible().set_name("Notes")
notes.get_buffer().connect("changed", lambda b: put("notes", b.get_text(b.get_start_iter(), b.get_end_iter(), True)))
scrolled = Gtk.ScrolledWindow()
scrolled.add(notes)
store = Gtk.ListStore(str)
for n in ("Apples", "Bread", "Cheese", "Dates"):
    store.append([n])
view = Gtk.TreeView(model=store)
view.append_column(Gtk.TreeViewColumn("Goods", Gtk.CellRendererText(), text=0))
view.get_selection().connect("changed", lambda s: put("goods", (lambda m, i: m[i][0] if i else None)(*s.get_selected())))
view.connect("row-activated", lambda v, path, c: put("opened", store[path][0]))
notebook.append_page(scrolled, Gtk.Label(label="Notes"))
notebook.append_page(view, Gtk.Label(label="Goods"))
notebook.connect("switch-page", lambda n, p, i: put("page", i))


def ask(button):
    d = Gtk.MessageDialog(transient_for=window, modal=True, text="Send the order?", title="Send")
    d.add_buttons("Not yet", 0, "Send it", 1)
    d.connect("response", lambda d, r: (put("sent", r == 1), d.destroy()))
    d.show_all()


send = Gtk.Button(label="Send order")
send.connect("clicked", ask)
clear = Gtk.Button(label="Clear")
clear.connect("clicked", lambda b: put("cleared", True))
stop = Gtk.Button(label="Steal focus")
stop.connect("clicked", lambda b: GLib.timeout_add(2500, lambda: row_focus()))


def row_focus():
    customer.grab_focus()
    return False


buttons = Gtk.Box(spacing=6)
for b in ((clear, send, stop) if changed else (send, clear, stop)):
    buttons.pack_start(b, False, False, 0)
for part in ((buttons, gift, radios, notebook) if changed else (gift, radios, notebook, buttons)):
    box.pack_start(part, part is notebook, True, 0)
window.show_all()
put("ready", True)
Gtk.main()
