# A window with a focused multiline text, a label and a button; the text is logged in a file.
import gi, sys
VERSION = sys.argv[1]
gi.require_version("Gtk", VERSION)
from gi.repository import Gtk
def fill(window):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    put = box.append if VERSION == "4.0" else box.add
    text, label, button = Gtk.TextView(), Gtk.Label(label="Words"), Gtk.Button(label="Count")
    b = text.get_buffer()
    b.set_text("hello")
    def tell(*_):
        with open(sys.argv[2], "w") as f: f.write(b.get_text(b.get_start_iter(), b.get_end_iter(), True))
    b.connect("changed", tell)
    tell()
    for w in text, label, button: put(w)
    if VERSION == "4.0": window.set_child(box)
    else: window.add(box)
    text.grab_focus()
def up(app):
    window = Gtk.ApplicationWindow(application=app, title="Tabbed"); fill(window); window.present()
if VERSION == "4.0":
    app = Gtk.Application(application_id="org.example.tabbed"); app.connect("activate", up); app.run(None)
else:
    window = Gtk.Window(title="Tabbed"); fill(window); window.show_all()
    Gtk.main()
