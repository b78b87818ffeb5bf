"""A window of GTK 3 that reports changes of its check box when told: a line "COUNT RATE" in the pipe reports COUNT of
them, RATE a second, or as many as possible for 0. The accessible object reports them itself, so that nothing is drawn."""

import os
import sys
import time

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Atk", "1.0")
from gi.repository import Atk, GLib, Gtk

CHUNK = 50  # changes between two looks at the queries of others

window = Gtk.Window(title="Changes", default_width=300, default_height=100)
box = Gtk.CheckButton(label="Change")
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
todo = []
checked = False  # as last reported


def change():
    global checked
    now = time.monotonic()
    count, rate, begun, done = todo[0]
    due = count if rate == 0 else min(count, int((now - begun) * rate))
    for _ in range(done, min(due, done + CHUNK)):
        checked = not checked  # a state that repeats is no change
        box.get_accessible().notify_state_change(Atk.StateType.CHECKED, checked)
    todo[0][3] = max(done, min(due, done + CHUNK))
    if todo[0][3] == count:
        todo.pop(0)
    if not todo:
        return False
    GLib.timeout_add(1, change)
    return False


def read(pipe, _):
    for line in os.read(pipe, 4096).decode().splitlines():
        count, rate = line.split()
        todo.append([int(count), float(rate), time.monotonic(), 0])
        if len(todo) == 1:
            change()
    return True


GLib.io_add_watch(os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK), GLib.IO_IN, read)
Gtk.main()
