"""Presses controls of a program by their accessible names, as a person does: press.py PROGRAM NAME…

Waits up to 20 s for each of them.
"""

import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib


def children(element):
    try:
        return [c for c in (element.get_child_at_index(i) for i in range(element.get_child_count())) if c is not None]
    except GLib.Error:
        return []  # it has just gone, or does not answer


def controls(element):
    """Name, whether it can be pressed, and element, of all below."""
    try:
        usable = element.get_state_set().contains(Atspi.StateType.SENSITIVE) and element.get_n_actions() > 0
        usable = usable and element.get_action_name(0).lower() in ("toggle", "click", "press")
        yield element.get_name() or "", usable, element
    except GLib.Error:
        pass
    for child in children(element):
        yield from controls(child)


def press(element):
    try:
        return element.do_action(0)
    except GLib.Error:
        return False  # a label or a row of the same name


def programs(name):
    return [app for app in children(Atspi.get_desktop(0)) if name in (app.get_name() or "")]


program, names = sys.argv[1], sys.argv[2:]
for name in names:
    end = time.time() + 20
    while True:
        found = [e for app in programs(program) for n, usable, e in controls(app) if usable and n == name]
        if any(press(e) for e in found):
            break
        if time.time() > end:
            seen = {app.get_name(): [(n, usable) for n, usable, _ in controls(app)] for app in programs(program)}
            sys.exit(f"{program} shows no {name!r}, but {seen}")
        time.sleep(0.1)
    time.sleep(0.3)
