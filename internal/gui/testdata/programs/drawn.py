# A window with a field and a widget that draws itself. The widget logs its keys in a file, and gives the keyboard to
# the field at "!". At "?" it opens a dialog with a button that has the next letter.
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
field = Gtk.Entry()
field.get_accessible().set_name("Secret")
sheet = Gtk.DrawingArea(can_focus=True)
sheet.set_size_request(200, 60)
sheet.get_accessible().set_name("Sheet")
keys = []
def pressed(_, event):
    if event.string:
        keys.append(event.string)
        with open(sys.argv[1], "w") as f: f.write("".join(keys) + ";" + field.get_text())
        sheet.queue_draw()
    if event.string == "!": field.grab_focus()
    if event.string == "?":
        dialog = Gtk.MessageDialog(transient_for=window, modal=True, text="Delete all?")
        dialog.add_button("_Cancel", 0); dialog.add_button("_Delete", 1)
        answer = dialog.run(); dialog.destroy()
        open(sys.argv[1] + ".answer", "w").write(str(answer))
    return False
def draw(_, context):
    context.move_to(10, 30)
    context.show_text("".join(keys))
sheet.connect("key-press-event", pressed)
sheet.connect("draw", draw)
field.connect("changed", lambda _: open(sys.argv[1] + ".field", "w").write(field.get_text()))
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
box.add(field); box.add(sheet)
window = Gtk.Window(title="Drawn"); window.add(box); window.show_all()
Gtk.main()
