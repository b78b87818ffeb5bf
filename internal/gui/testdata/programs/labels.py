import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk
def act(app):
    w = Gtk.ApplicationWindow(application=app, title="Labels")
    v = Gtk.Box(orientation=1)
    w.set_child(v)
    for label in ("GtkPress", "GtkButton", "Ready"):
        v.append(Gtk.Button(label=label))
    v.append(Gtk.Entry(text="plain"))
    e = Gtk.Entry(text="held")
    e.update_property([Gtk.AccessibleProperty.LABEL], ["VteField"])
    v.append(e)
    w.present()
app = Gtk.Application(application_id="org.example.Labels")
app.connect("activate", act)
app.run()
