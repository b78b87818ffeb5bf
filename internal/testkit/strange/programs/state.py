"""The state of strange windows: what happened, by the program's own knowledge."""

import json
import os


class State:
    """Values by the ID of a control, events in order, and the open dialog of the shown window."""

    def __init__(self, folder):
        self.folder, self.name = folder, ""
        self.begin("")

    def begin(self, name):
        """Begins the state of another window."""
        self.name = name
        self.values, self.events, self.dialog, self.ready = {}, [], "", False
        self.counted = lambda events: None

    def next(self):
        """The name and description of the window to show, if it is another one."""
        try:
            with open(os.path.join(self.folder, "next")) as f:
                name = f.read()
        except FileNotFoundError:
            return None
        if name == self.name:
            return None
        with open(os.path.join(self.folder, name + ".json")) as f:
            w = json.load(f)
        mark(w["root"], name)
        return name, w

    def set(self, node, value, part=""):
        if node.get("window", self.name) != self.name:
            return  # a widget of the window before ends late
        self.values[node["id"] + ("/" + str(part) if part != "" else "")] = value
        self.write()

    def event(self, node, what):
        self.events.append([node["id"], what])
        self.counted(len(self.events))
        self.write()

    def ask(self, node):
        self.dialog = node["id"] if node else ""
        self.write()

    def start(self, name):
        """The window of the name is there."""
        if name == self.name:
            self.ready = True
            self.write()

    def write(self):
        if not self.ready:
            return
        file = os.path.join(self.folder, self.name + ".state")
        with open(file + ".new", "w") as f:
            json.dump({"values": self.values, "events": self.events, "dialog": self.dialog}, f)
        os.replace(file + ".new", file)


def mark(node, name):
    """Notes the window of the node and of those below it."""
    node["window"] = name
    for child in node.get("children", []):
        mark(child, name)


def habit(node, name):
    return node.get("habits", {}).get(name)


def normal(node, text):
    """The program's form of a text."""
    how = habit(node, "normalise")
    return text.upper() if how == "upper" else text.strip() if how == "trim" else text


def accepted(node, text):
    """The part of the text that the field takes."""
    how = habit(node, "accepts")
    if how:
        text = "".join(c for c in text if c in "0123456789")
    if how == "mask":
        text = "-".join(text[i:i + 2] for i in range(0, min(len(text), 6), 2))
    return text


def cell(node, row, column):
    """The text of a table's cell at the start."""
    return node["items"][row] if column == 0 else f"{node['columns'][column].lower()} {row + 1}"


def delay(node):
    return habit(node, "slow_ms") or 0
