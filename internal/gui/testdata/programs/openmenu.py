# A window of GTK 4 with a menu.
import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk, Gio
def up(app):
    window = Gtk.ApplicationWindow(application=app, title="Menu", default_width=300, default_height=200)
    menu = Gio.Menu()
    for name in "Batch", "Cabin":
        menu.append(name, None)
    window.set_child(Gtk.MenuButton(label="More", menu_model=menu, valign=Gtk.Align.START))
    window.present()
app = Gtk.Application(application_id="org.example.openmenu")
app.connect("activate", up)
app.run(None)
