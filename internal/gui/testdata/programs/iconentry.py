# An entry with a pressable icon, like Thunar's.
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
entry = Gtk.Entry(text="/tmp")
entry.set_icon_from_icon_name(Gtk.EntryIconPosition.SECONDARY, "edit-clear")
entry.connect("icon-press", lambda *_: open(sys.argv[1], "a").write("pressed\n"))
window = Gtk.Window(title="Place", default_width=300, default_height=60)
window.add(entry)
window.show_all()
Gtk.main()
