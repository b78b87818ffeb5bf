# A window with labels that name no field by their places: a check box, a switch and a field
# have their labels after them, and a check box stands before the label of a field. A field has a
# placeholder, and an expander hides one. The values go to a file.
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
rows = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=20)
fields = {}
def put(*parts):
    box = Gtk.Box(spacing=6)
    for part in parts:
        box.add(Gtk.Label(label=part) if isinstance(part, str) else part)
    rows.add(box)
def field(key, **more):
    fields[key] = Gtk.Entry(**more)
    return fields[key]
put(Gtk.CheckButton(), "Send copy to", field("copy"))
put(Gtk.Switch(), "Night")
put(field("after"), "After it")
put(field("held", placeholder_text="Where to"))
put("Note", field("note", placeholder_text="Anything"))
def write(*_):
    with open(sys.argv[1], "w") as f:
        for name, field in fields.items():
            f.write(name + "=" + field.get_text() + "\n")
for one in fields.values():
    one.connect("changed", write)
window = Gtk.Window(title="Other", default_width=400, default_height=200)
window.add(rows)
window.show_all()
Gtk.main()
