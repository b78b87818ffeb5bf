# A sheet with an entry line that takes only text typed while it has the keyboard: return in the sheet
# empties it.
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
rows = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
line, place = Gtk.Entry(), Gtk.Label(label="A1")
sheet = Gtk.DrawingArea(can_focus=True)
sheet.set_size_request(200, 200)
def pressed(_, event):
    if event.keyval == Gdk.KEY_Return:
        line.set_text("")
        place.set_text("A2")
sheet.connect("key-press-event", pressed)
rows.add(line), rows.add(place), rows.add(sheet)
window = Gtk.Window(title="Sheet")
window.add(rows)
window.show_all()
sheet.grab_focus()
Gtk.main()
