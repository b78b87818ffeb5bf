# A program with buttons and fields that open windows of other processes: a script that
# asks by zenity at once and later, and a running helper, like a portal.
import os, signal, subprocess, sys, gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, GLib
said = sys.argv[1]
helper = int(sys.argv[2])
ask = ["sh", "-c", "zenity --question --title=Sure --text='Delete the draft?' --ok-label=Erase; echo $? >> " + said]
def together(*_):
    subprocess.Popen(ask)
    subprocess.run(["xdotool", "search", "--sync", "--onlyvisible", "--name", "^Sure$"], check=True)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for name in ("Name", "Note", "Strict"):
    e = Gtk.Entry(); e.get_accessible().set_name(name); e.connect("changed", lambda e, name: e.get_text() == "draft" and (together(), name == "Strict" and e.set_text("no")), name); box.add(e)
for name, do in (("Ask", lambda *_: subprocess.Popen(ask) and None), ("Later", lambda *_: GLib.timeout_add(1200, lambda: subprocess.Popen(ask) and None) and None),
                 ("Together", together),
                 ("Choose", lambda *_: os.kill(helper, signal.SIGUSR1)), ("Nothing", lambda *_: None)):
    b = Gtk.Button(label=name); b.connect("clicked", do); box.add(b)
window = Gtk.Window(title="Host"); window.add(box); window.show_all()
Gtk.main()
