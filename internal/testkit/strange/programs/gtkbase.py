"""The common parts of strange windows in GTK: gtk.py FOLDER VERSION, with VERSION 3 or 4."""

import faulthandler
import sys

import gi

faulthandler.enable()
NEW = sys.argv[2] == "4"
gi.require_version("Gtk", "4.0" if NEW else "3.0")
gi.require_version("Gdk", "4.0" if NEW else "3.0")
from gi.repository import Gdk, Gio, GLib, GObject, Gtk

from state import State, accepted, cell, delay, habit, normal

S = State(sys.argv[1])
V, H = Gtk.Orientation.VERTICAL, Gtk.Orientation.HORIZONTAL
MAKERS = {}
SHOWN = {}  # "window" is the main window


def put(box, child, grow=False):
    if NEW:
        child.set_hexpand(grow or child.get_hexpand())
        child.set_vexpand(grow and box.get_orientation() == V)
        box.append(child)
    else:
        box.pack_start(child, grow, True, 0)
    return child


def inside(container, child):
    if NEW:
        container.set_child(child)
    else:
        container.add(child)
    return container


def named(widget, name):
    """The accessible name, without anything to see."""
    if NEW:
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
    else:
        widget.get_accessible().set_name(name)


def label(text, **more):
    return Gtk.Label(label=text, xalign=0, **more)


def timer(ms, do):
    """Runs do after the time, if the window is still the same."""
    name = S.name
    GLib.timeout_add(ms, lambda: name == S.name and do() and False)


def later(node, do):
    """Runs do after the node's delay."""
    if delay(node):
        timer(delay(node), do)
    else:
        do()


def with_label(node, widget, grow=False):
    """The widget with its label at the place that the node wants."""
    how, name = node.get("labelling", "own"), node.get("name", "")
    if how == "own":
        named(widget, name)
        return widget
    if how == "placeholder":
        widget.set_placeholder_text(name)
        return widget
    if how == "tooltip":
        widget.set_tooltip_text(name)
        return widget
    if how == "none":
        return widget
    box = Gtk.Box(orientation=V if how == "above" else H, spacing=6)
    text = label(name)
    if how == "relation":
        text.set_mnemonic_widget(widget)
    for part in (widget, text) if how == "after" else (text, widget):
        put(box, part, part is widget)
    return box


def over(node, widget, choices):
    """The widget with its label above it; choices is the part that has the name."""
    if node["labelling"] == "own":
        named(choices, node["name"])
    if node["labelling"] != "above":
        return widget
    box = Gtk.Box(orientation=V)
    put(box, label(node["name"]))
    put(box, widget, True)
    return box


def scrolling(child, height):
    area = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER)
    area.set_min_content_height(height)
    return inside(area, child)


def watch_focus(widget, left=None, entered=None):
    if NEW:
        focus = Gtk.EventControllerFocus()
        if left:
            focus.connect("leave", lambda _: left())
        if entered:
            focus.connect("enter", lambda _: entered())
        widget.add_controller(focus)
    else:
        if left:
            widget.connect("focus-out-event", lambda *_: left() and False)
        if entered:
            widget.connect("focus-in-event", lambda *_: entered() and False)


def modal_window(title, is_modal, content):
    """A window in front of the main one."""
    dialog = Gtk.Window(title=title, transient_for=SHOWN["window"], modal=is_modal)
    SHOWN["windows"].insert(0, dialog)
    return inside(dialog, content)


def close_popovers(widget):
    """Closes the open popovers of GTK 4 (4.8): if a window ends with one open, no later window of the program gets a click."""
    child = widget.get_first_child()
    while child:
        close_popovers(child)
        child = child.get_next_sibling()
    if isinstance(widget, Gtk.Popover):
        widget.popdown()


def show(window):
    window.present() if NEW else window.show_all()


def question(node):
    """A dialog that must be closed."""
    S.ask(node)
    box = Gtk.Box(orientation=V, spacing=8)
    dialog = modal_window("Please note", True, box)
    put(box, label(node["name"] + " was used."))
    close = Gtk.Button(label="Understood")

    def shut(*_):
        S.ask(None)
        dialog.destroy()
    close.connect("clicked", shut)
    put(box, close)
    show(dialog)


def covered(widget):
    """The widget below something opaque."""
    both = Gtk.Overlay()
    inside(both, widget)
    if NEW:
        cover = Gtk.Frame(child=Gtk.Label(label="▒▒▒▒▒▒▒▒▒▒▒▒"))
    else:
        cover = inside(Gtk.EventBox(), Gtk.Label(label="▒▒▒▒▒▒▒▒▒▒▒▒"))
    cover.get_style_context().add_class("background")
    both.add_overlay(cover)
    return both


def make(node):
    widget = MAKERS[node["kind"]](node)
    if node.get("disabled"):
        widget.set_sensitive(False)
    if node.get("covered"):
        widget = covered(widget)
    if node.get("hidden"):
        widget.set_visible(False)
        if not NEW:
            widget.set_no_show_all(True)
    return widget
