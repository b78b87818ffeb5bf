# A window with a button without effect, and others: one shows "saved" 300 ms after its work, one "worked" after as much
# busy time, and one "has come" after 1.5 s of work in which it still answers.
import sys, threading, time
def burn(say):
    end = time.monotonic() + 0.3
    while time.monotonic() < end: pass
    say("worked")
def long(say):
    def work():
        end = time.monotonic() + 1.5
        while time.monotonic() < end: pass
        say("has come")
    threading.Thread(target=work).start()
import gi
VERSION = sys.argv[1]
gi.require_version("Gtk", VERSION)
from gi.repository import Gtk, GLib
status = Gtk.Label(label="idle")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
put = box.append if VERSION == "4.0" else box.add
for name, do in ("Late", lambda *_: GLib.timeout_add(300, status.set_label, "saved")), ("Busy", lambda *_: GLib.timeout_add(1, burn, status.set_label)), ("Long", lambda *_: long(lambda word: GLib.idle_add(status.set_label, word))), ("Dead", lambda *_: None):
    b = Gtk.Button(label=name); b.connect("clicked", do); put(b)
put(status)
def up(app):
    window = Gtk.ApplicationWindow(application=app, title="Late"); window.set_child(box); window.present()
if VERSION == "4.0":
    app = Gtk.Application(application_id="org.example.late"); app.connect("activate", up); app.run()
else:
    window = Gtk.Window(title="Late"); window.add(box); window.show_all()
    Gtk.main()
