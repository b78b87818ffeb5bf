"""The state of a strange window: what happened, by the program's own knowledge."""

import json
import os
import sys


class State:
    """Values by the ID of a control, events in order, and the open dialog."""

    def __init__(self, file):
        self.file = file
        self.values, self.events, self.dialog, self.ready = {}, [], "", False

    def set(self, node, value):
        self.values[node["id"]] = value
        self.write()

    def event(self, node, what):
        self.events.append([node["id"], what])
        self.write()

    def ask(self, node):
        self.dialog = node["id"] if node else ""
        self.write()

    def start(self):
        self.ready = True
        self.write()

    def write(self):
        if not self.ready:
            return
        with open(self.file + ".new", "w") as f:
            json.dump({"values": self.values, "events": self.events, "dialog": self.dialog}, f)
        os.replace(self.file + ".new", self.file)


def window():
    """The description of the window, from the first argument."""
    with open(sys.argv[1]) as f:
        return json.load(f)


def normal(node, text):
    """The program's form of a text."""
    how = node.get("habits", {}).get("normalise")
    return text.upper() if how == "upper" else text.strip() if how == "trim" else text


def delay(node):
    return node.get("habits", {}).get("slow_ms", 0)
