import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk, Gdk, GLib
import sys
faulty = sys.argv[1] == "faulty"
def named(widget, name): widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
def activate(app):
    css = Gtk.CssProvider(); css.load_from_data(b"#pale { color: #b0b0b0; background: #ffffff; } #dark { color: #222222; background: #ffffff; } .tiny { min-width: 8px; min-height: 8px; padding: 0px; }")
    Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), css, 900)
    grid = Gtk.Grid(row_spacing=30, column_spacing=30, margin_start=20, margin_end=20, margin_top=20, margin_bottom=20)
    icon = Gtk.Button(icon_name="list-add"); grid.attach(icon, 0, 0, 1, 1)
    lone = Gtk.Entry(); grid.attach(lone, 1, 9, 1, 1)
    send = Gtk.Button(label="btn_42" if faulty else "Send"); grid.attach(send, 0, 3, 1, 1)
    text = Gtk.Label(label="The price includes shipping"); text.set_name("pale" if faulty else "dark"); grid.attach(text, 0, 4, 2, 1)
    deaf = Gtk.Button(label="Reload"); deaf.set_focusable(not faulty); grid.attach(deaf, 0, 5, 1, 1)
    pair = Gtk.Box(spacing=0 if faulty else 40); grid.attach(pair, 0, 6, 1, 1)
    for name in ["Less", "More"]:
        small = Gtk.Button(); small.add_css_class("tiny"); named(small, name); small.set_halign(Gtk.Align.START); pair.append(small)
    if not faulty: named(icon, "Add a row"); named(lone, "Country")
    window = Gtk.ApplicationWindow(application=app, title="Audited"); window.set_child(grid); window.present()
app = Gtk.Application(); app.connect("activate", activate); app.run([])
