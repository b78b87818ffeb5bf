# A table of GTK 3 with a check box in each row. Each tick is a line of a file.
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
rows = Gtk.ListStore(bool, str)
for name in "Alpha", "Beta", "Gamma", "Delta":
    rows.append([False, name])
view = Gtk.TreeView(model=rows)
def toggled(_, path):
    rows[path][0] = not rows[path][0]
    with open(sys.argv[1], "a") as f:
        f.write("%s %s\n" % (rows[path][1], rows[path][0]))
box = Gtk.CellRendererToggle()
box.connect("toggled", toggled)
view.append_column(Gtk.TreeViewColumn("Pick", box, active=0))
view.append_column(Gtk.TreeViewColumn("Name", Gtk.CellRendererText(), text=1))
window = Gtk.Window(title="Checks", default_width=300, default_height=300)
window.add(view)
window.show_all()
Gtk.main()
