import sys, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, box = Gtk.Window(title="exact gtk3"), Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
def pressed(button):
    open(sys.argv[1], "a").write(button.get_label() + "\n")
for name in sys.argv[2:]:
    button = Gtk.Button(label=name)
    button.connect("clicked", pressed)
    box.add(button)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
