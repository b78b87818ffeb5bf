import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
word = Gtk.Label(label="nothing")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for name in ("More", "Ready"):
    b = Gtk.Button(label=name)
    b.connect("enter-notify-event", lambda b, e: word.set_label("over " + b.get_label()))
    box.add(b)
box.add(word)
window = Gtk.Window(title="Hover"); window.add(box); window.show_all()
Gtk.main()
