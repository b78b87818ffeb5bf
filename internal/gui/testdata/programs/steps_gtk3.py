import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, box = Gtk.Window(title="Steps"), Gtk.VBox()
status, name, agree, send, step = Gtk.Label(label="Saved"), Gtk.Entry(), Gtk.CheckButton(label="Agree"), Gtk.Button(label="Send"), Gtk.Button(label="Next")
name.get_accessible().set_name("Name")
send.set_sensitive(False)
steps = iter([lambda: status.show(), lambda: status.hide(), lambda: name.set_text("Ann"), lambda: agree.set_active(True), lambda: send.set_sensitive(True), Gtk.main_quit])
step.connect("clicked", lambda *_: next(steps)())
for each in (status, name, agree, send, step): box.add(each)
window.add(box); window.show_all(); status.hide()
Gtk.main()
