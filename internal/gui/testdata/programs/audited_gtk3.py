import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
import sys
faulty = sys.argv[1] == "faulty"
css = Gtk.CssProvider(); css.load_from_data(b"#pale { color: #b0b0b0; background: #ffffff; } #dark { color: #222222; background: #ffffff; }")
Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), css, 900)
grid = Gtk.Grid(row_spacing=30, column_spacing=30, margin=20)
icon = Gtk.Button(); icon.add(Gtk.Image.new_from_icon_name("list-add", Gtk.IconSize.BUTTON)); grid.attach(icon, 0, 0, 1, 1)
lone = Gtk.Entry(); grid.attach(lone, 1, 9, 1, 1)
label = Gtk.Label(label="Street"); street = Gtk.Entry(); grid.attach(label, 0, 2, 1, 1); grid.attach(street, 1, 2, 1, 1)
named = Gtk.Button(label="btn_42" if faulty else "Send"); grid.attach(named, 0, 3, 1, 1)
text = Gtk.Label(label="The price includes shipping"); text.set_name("pale" if faulty else "dark"); grid.attach(text, 0, 4, 2, 1)
deaf = Gtk.Button(label="Reload"); deaf.set_can_focus(not faulty); grid.attach(deaf, 0, 5, 1, 1)
size = Gtk.ComboBoxText(); size.append_text("Small"); size.append_text("Large"); size.set_active(0); grid.attach(size, 1, 7, 1, 1)
about = Gtk.Label(label="Size"); grid.attach(about, 0, 11, 1, 1)
town = Gtk.Entry(text="Bern"); town.get_accessible().set_name("Bern" if faulty else "Town"); grid.attach(town, 1, 8, 1, 1)
terms = Gtk.LinkButton.new_with_label("http://127.0.0.1/", "Click here" if faulty else "Our terms"); grid.attach(terms, 0, 10, 1, 1)
if not faulty:
    about.set_mnemonic_widget(size)
    icon.get_accessible().set_name("Add a row"); lone.get_accessible().set_name("Country")
    label.set_mnemonic_widget(street)
window = Gtk.Window(title="Audited"); window.add(grid); window.show_all()
Gtk.main()
