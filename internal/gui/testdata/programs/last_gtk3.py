import os, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
entry = Gtk.Entry(); entry.get_accessible().set_name("Last word"); entry.connect("changed", lambda *_: os._exit(0))
window = Gtk.Window(title="Last"); window.add(entry); window.show_all()
Gtk.main()
