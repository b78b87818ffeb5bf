import signal, sys, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, GLib
window = Gtk.Window(title="Open a file"); window.add(Gtk.Button(label="Take it"))
first = Gtk.Window(title="Helper"); first.add(Gtk.Label(label="a helper")); first.show_all()
GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, lambda: window.show_all() or True)
open(sys.argv[1], "w").close()
Gtk.main()
