import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
w = Gtk.Window(title="Icon")
e = Gtk.Entry(text="held")
e.set_icon_from_icon_name(1, "edit-clear")
w.add(e)
w.connect("destroy", Gtk.main_quit)
w.show_all()
Gtk.main()
