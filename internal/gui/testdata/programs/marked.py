import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
grid = Gtk.Grid(row_spacing=2, column_spacing=2)
for i in range(12):
    grid.attach(Gtk.Label(label="Line %d" % i), 0, i, 1, 1)
    grid.attach(Gtk.Entry(), 1, i, 1, 1)
    grid.attach(Gtk.CheckButton(label="On"), 2, i, 1, 1)
    grid.attach(Gtk.Button(label="Go"), 3, i, 1, 1)
window = Gtk.Window(title="Marked"); window.add(grid); window.show_all()
Gtk.main()
