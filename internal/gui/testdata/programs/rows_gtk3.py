import gi, os, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
store = Gtk.ListStore(str)
for n in range(8): store.append(["Row %d" % n])
rows = Gtk.TreeView(model=store)
rows.append_column(Gtk.TreeViewColumn("Name", Gtk.CellRendererText(), text=0))
chosen = rows.get_selection()
chosen.set_mode(Gtk.SelectionMode.MULTIPLE)
def tell(*_):
    with open(sys.argv[1] + ".new", "w") as f: f.write(" ".join(str(p) for p in chosen.get_selected_rows()[1]))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
chosen.connect("changed", tell)
window = Gtk.Window(title="Rows", default_width=300, default_height=300)
window.add(rows)
window.show_all()
tell()
Gtk.main()
