# A window that draws buttons, white on colors, and logs the clicked ones in a file. A click on Swap changes the places
# of the others.
import gi, sys
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
area = Gtk.DrawingArea()
area.set_size_request(420, 200)
area.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
names = ["Approve", "Refund", "Archive", "Delete"]
colors = [(0.1, 0.45, 0.91), (0.85, 0.19, 0.15), (0.1, 0.5, 0.22), (0.42, 0.11, 0.6)]
clicks = 0
def place(i): return 20 + 200 * (i % 2), 20 + 60 * (i // 2), 180, 40
def draw(_, c):
    c.set_source_rgb(0.15, 0.15, 0.17); c.paint()
    c.set_font_size(15)
    for i, name in enumerate(names + ["Swap"]):
        x, y, w, h = place(i)
        c.set_source_rgb(*(colors + [(0.3, 0.3, 0.3)])[i]); c.rectangle(x, y, w, h); c.fill()
        c.set_source_rgb(1, 1, 1); c.move_to(x + 50, y + 26); c.show_text(name)
    c.move_to(230, 170); c.show_text("Clicks: %d" % clicks)
def pressed(_, event):
    global clicks
    clicks += 1
    for i, name in enumerate(names + ["Swap"]):
        x, y, w, h = place(i)
        if x <= event.x < x + w and y <= event.y < y + h:
            with open(sys.argv[1], "a") as f: f.write(name + "\n")
            if name == "Swap": names.reverse()
    area.queue_draw()
area.connect("draw", draw)
area.connect("button-press-event", pressed)
window = Gtk.Window(title="Painted"); window.add(area); window.show_all()
Gtk.main()
