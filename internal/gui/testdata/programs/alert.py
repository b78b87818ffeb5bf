import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk
def ask(window, word):
    d = Gtk.MessageDialog(transient_for=window, modal=True, text="Save the changes?")
    d.add_buttons("_Cancel", 1, "_Discard", 2, "_Save", 3)
    d.connect("response", lambda d, n: (word.set_label("answer %d" % n), d.destroy()))
    d.present()
def up(app):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    window = Gtk.ApplicationWindow(application=app, title="Alert")
    word, b = Gtk.Label(label="no answer"), Gtk.Button(label="Ask")
    b.connect("clicked", lambda *_: ask(window, word))
    box.append(b); box.append(word); window.set_child(box); window.present()
app = Gtk.Application(application_id="org.example.alert"); app.connect("activate", up); app.run(None)
