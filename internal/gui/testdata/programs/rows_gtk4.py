import gi, os, sys
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk
def up(app):
    rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.MULTIPLE)
    for n in range(8): rows.append(Gtk.Label(label="Row %d" % n))
    def tell(*_):
        with open(sys.argv[1] + ".new", "w") as f: f.write(" ".join(str(r.get_index()) for r in rows.get_selected_rows()))
        os.rename(sys.argv[1] + ".new", sys.argv[1])
    rows.connect("selected-rows-changed", tell)
    tell()
    window = Gtk.ApplicationWindow(application=app, title="Rows"); window.set_child(rows); window.present()
app = Gtk.Application(application_id="org.example.rows"); app.connect("activate", up); app.run(None)
