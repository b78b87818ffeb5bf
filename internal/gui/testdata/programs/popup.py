# A white window past the window manager, with a password field: x, y, width, height.
import sys, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
x, y, width, height = map(int, sys.argv[1:])
w = Gtk.Window(type=Gtk.WindowType.POPUP, title="lock")
w.move(x, y); w.set_default_size(width, height)
w.override_background_color(Gtk.StateFlags.NORMAL, Gdk.RGBA(1, 1, 1, 1))
w.add(Gtk.Entry(visibility=False, valign=Gtk.Align.START, halign=Gtk.Align.START))
w.show_all()
Gtk.main()
