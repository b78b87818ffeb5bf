# A GTK list without selectable rows.
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
store = Gtk.ListStore(str)
for name in "Alpha", "Beta": store.append([name])
view = Gtk.TreeView(model=store)
view.append_column(Gtk.TreeViewColumn("Word", Gtk.CellRendererText(), text=0))
view.get_selection().set_select_function(lambda *_: False)
window = Gtk.Window(title="Deaf")
window.add(view)
window.show_all()
Gtk.main()
