import gi, sys
VERSION = sys.argv[1]
gi.require_version("Gtk", VERSION)
from gi.repository import Gtk, GLib
log = open(sys.argv[2], "w", buffering=1)
def fill(window):
    box = Gtk.Box(orientation=1)
    put = box.append if VERSION == "4.0" else box.add
    first, second, ok = Gtk.Entry(), Gtk.Entry(), Gtk.Button(label="Ready")
    for n, e in ("first", first), ("second", second):
        e.connect("activate", lambda e, n: log.write("activate " + n + "\n"), n)
        e.connect("changed", lambda e, n: log.write("changed " + n + " " + e.get_text() + "\n"), n)
    for x in first, second, ok: put(x)
    if VERSION == "4.0": window.set_child(box)
    else: window.add(box)
if VERSION == "4.0":
    def up(app):
        window = Gtk.ApplicationWindow(application=app, title="Entries"); fill(window); window.present()
    app = Gtk.Application(application_id="org.example.entries"); app.connect("activate", up); app.run(None)
else:
    window = Gtk.Window(title="Entries"); fill(window); window.show_all(); Gtk.main()
