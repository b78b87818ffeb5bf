# A window with a button that starts work and shows the result when it is done, as programs do on a
# busy computer.
import gi, os, sys, time
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
window, box = Gtk.Window(title="Works"), Gtk.VBox()
start, done, enter = Gtk.Button(label="Start"), Gtk.Button(label="Done"), Gtk.Button(label="Enter")
done.connect("clicked", lambda *_: window.set_title("Done with it"))
enter.set_sensitive(False)
def work(*_):
    child = os.fork()
    if not child:
        until = time.monotonic() + float(sys.argv[1])
        while time.monotonic() < until: pass
        os._exit(0)
    GLib.child_watch_add(GLib.PRIORITY_DEFAULT, child, lambda *_: (done.show(), enter.set_sensitive(True)))
start.connect("clicked", work)
for each in (start, done, enter): box.add(each)
window.add(box); window.show_all(); done.hide()
Gtk.main()
