import gi, json, os, sys
gi.require_version("Gtk", sys.argv[1])
from gi.repository import Gtk, GLib
file = sys.argv[2]
old = sys.argv[1] == "3.0"
spin = Gtk.SpinButton(adjustment=Gtk.Adjustment(value=5, lower=-10, upper=10, step_increment=1))
scale = Gtk.Scale(adjustment=Gtk.Adjustment(value=5, lower=-10, upper=10, step_increment=1), digits=0, hexpand=True)
def tell(*_):
    with open(file + ".new", "w") as f: f.write(json.dumps({"spin": spin.get_value(), "scale": scale.get_value()}))
    os.rename(file + ".new", file)
    return False
spin.connect("value-changed", tell)
scale.connect("value-changed", tell)
if old:
    spin.get_accessible().set_name("Depth")
    scale.get_accessible().set_name("Gain")
else:
    spin.update_property([Gtk.AccessibleProperty.LABEL], ["Depth"])
    scale.update_property([Gtk.AccessibleProperty.LABEL], ["Gain"])
def show(app=None):
    window = Gtk.Window(title="Numbers", default_width=300, default_height=200) if old else Gtk.ApplicationWindow(application=app, title="Numbers", default_width=300, default_height=200)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for w in (spin, scale):
        box.add(w) if old else box.append(w)
    window.add(box) if old else window.set_child(box)
    window.show_all() if old else window.present()
    tell()
if old:
    show()
    Gtk.main()
else:
    app = Gtk.Application()
    app.connect("activate", show)
    app.run()
