# A window with forty fields in a scroll area, each with a label beside it. The last field that
# changed goes to a file.
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
grid = Gtk.Grid(row_spacing=6, column_spacing=6)
def write(field, i):
    with open(sys.argv[1], "w") as f:
        f.write("%d=%s\n" % (i, field.get_text()))
for i in range(40):
    field = Gtk.Entry()
    field.connect("changed", write, i)
    grid.attach(Gtk.Label(label="Line %d" % i), 0, i, 1, 1)
    grid.attach(field, 1, i, 1, 1)
area = Gtk.ScrolledWindow()
area.add(grid)
window = Gtk.Window(title="Long", default_width=400, default_height=300)
window.add(area)
window.show_all()
Gtk.main()
