# A window with labels beside and above fields, related by nothing but their places, and an
# editable combo box. The values of the fields go to a file.
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
fields = {"summary": Gtk.Entry(), "owner": Gtk.Entry(), "notes": Gtk.Entry(), "kind": Gtk.ComboBoxText.new_with_entry()}
fields["kind"].append_text("Branch")
def put(orientation, name, field):
    box = Gtk.Box(orientation=orientation, spacing=6)
    box.pack_start(Gtk.Label(label=name, xalign=0), False, True, 0)
    box.pack_start(field, True, True, 0)
    return box
rows = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=4)
rows.add(put(Gtk.Orientation.HORIZONTAL, "Summary", fields["summary"]))
rows.add(put(Gtk.Orientation.HORIZONTAL, "Owner of it", fields["owner"]))
rows.add(put(Gtk.Orientation.VERTICAL, "Notes", fields["notes"]))
rows.add(put(Gtk.Orientation.HORIZONTAL, "Kind", fields["kind"]))
def write(*_):
    with open(sys.argv[1], "w") as f:
        for name, field in fields.items():
            f.write(name + "=" + (field.get_child() if name == "kind" else field).get_text() + "\n")
for name, field in fields.items():
    (field.get_child() if name == "kind" else field).connect("changed", write)
window = Gtk.Window(title="Placed", default_width=400, default_height=200)
window.add(rows)
window.show_all()
Gtk.main()
