import gi, json, os, sys
gi.require_version("Gtk", sys.argv[1])
from gi.repository import Gtk
old = sys.argv[1] == "3.0"
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
held = {}
def tell(*_):
    with open(sys.argv[2] + ".new", "w") as f: json.dump({name: read() for name, read in held.items()}, f)
    os.rename(sys.argv[2] + ".new", sys.argv[2])
def add(w, name, read, signal):
    w.get_accessible().set_name(name) if old else w.update_property([Gtk.AccessibleProperty.LABEL], [name])
    held[name] = read
    w.connect(signal, tell)
    box.add(w) if old else box.append(w)
def entry(name, text, **more):
    e = Gtk.Entry(text=text, **more)
    add(e, name, e.get_text, "changed")
    return e if old else e.get_delegate()
def digits(e, text, *_):
    if not text.isdigit(): e.stop_emission_by_name("insert-text")
def shows(e, change):
    if change(e.get_text()) != e.get_text(): e.set_text(change(e.get_text()))
def grouped(text):
    d = "".join(c for c in text if c.isdigit())[:6]
    return d[:3] + "-" + d[3:] if len(d) > 3 else d
entry("Code", "abc", max_length=5)
entry("Digits", "42").connect("insert-text", digits)
entry("Upper", "AB").connect("changed", shows, str.upper)
entry("Group", "12").connect("changed", shows, grouped)
spin = Gtk.SpinButton(adjustment=Gtk.Adjustment(value=5, lower=0, upper=0x7fffffff, step_increment=1))
add(spin, "Count", lambda: "%.10g" % spin.get_value(), "value-changed")
def show(app=None):
    window = Gtk.Window(title="Refusing") if old else Gtk.ApplicationWindow(application=app, title="Refusing")
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
