import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
import sys
fault = sys.argv[1]
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=30, margin=20)
parts = []
for name in ["First", "Second", "Third", "Fourth"]:
    entry = Gtk.Entry(); entry.get_accessible().set_name(name); box.add(entry); parts.append(entry)
ready = Gtk.Button(label="Ready"); box.add(ready); parts.append(ready)
if fault == "trap": parts[1].connect("key-press-event", lambda _, e: e.keyval in (Gdk.KEY_Tab, Gdk.KEY_ISO_Left_Tab))
if fault == "order": box.set_focus_chain([parts[0], parts[2], parts[1], parts[4]])
window = Gtk.Window(title="Walked"); window.add(box); window.show_all()
Gtk.main()
