"""What the fixtures share: their true state, and the file where tests read it."""

import argparse
import json
import os

MODIFIERS = (("ctrl", "Control"), ("alt", "Alt"), ("shift", "Shift"), ("super", "Super"))
DRAG = 8  # so many pixels make a drag of a click


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--title", required=True, help="of the window")
    parser.add_argument("--state", required=True, help="the file to write")
    parser.add_argument("--rows", type=int, default=0, help="a list of so many rows, and nothing else")
    return parser.parse_args()


class Oracle:
    """The state: what happened, and not what the accessibility bus makes of it."""

    def __init__(self, args, where):
        self.file = args.state
        self.where = where  # a function: name -> (x, y, width, height) in the window
        self.pressed = None
        self.visible = False
        self.state = {"focused": False, "keys": [], "scroll": 0}
        if args.rows:
            self.state |= {"rows": args.rows, "row": ""}
            return
        self.state |= {
            "presses": 0, "twin": 0, "agree": False, "name": "", "password": "", "notes": "",
            "volume": 30, "count": 5, "colour": "Red", "tab": "First", "second": 0, "fruit": "",
            "shuffled": 0, "dialog": "", "hidden": False, "ghost": 0, "menu": "", "slow": 0,
            "clicks": [], "drags": [],
        }

    def set(self, **changes):
        self.state |= changes
        self.write()

    def add(self, key):
        self.state[key] += 1
        self.write()

    def append(self, key, value, last=None):
        self.state[key] = (self.state[key] + [value])[-last if last else 0:]
        self.write()

    def appear(self):
        """To be called when the window has been drawn; nothing is written before."""
        if not self.visible:
            self.visible = True
            self.write()

    def write(self):
        """Writes all of it. The file appears whole, whenever it is read."""
        if not self.visible:
            return
        with open(self.file + ".new", "w") as f:
            json.dump(self.state | {"where": self.where()}, f)
        os.replace(self.file + ".new", self.file)

    def key(self, name, character, held):
        """A key press. name is the X11 name; held tells of each modifier."""
        if name.startswith(("Control_", "Alt_", "Shift_", "Super_", "Meta_", "Hyper_", "ISO_Level", "Caps_", "Num_")):
            return
        if len(character) == 1 and character.isprintable() and character != " ":
            name = character
        elif name == "ISO_Left_Tab":
            name = "Tab"
        self.append("keys", "+".join([m for m, _ in MODIFIERS if held[m]] + [name]), last=10)

    def press(self, button, count, x, y):
        """A press of a mouse button in the canvas, the count-th of a series."""
        self.pressed = (round(x), round(y))
        self.append("clicks", {"button": button, "count": count, "x": round(x), "y": round(y)})

    def release(self, button, x, y):
        start, end = self.pressed, (round(x), round(y))
        if start and max(abs(start[0] - end[0]), abs(start[1] - end[1])) >= DRAG:
            self.append("drags", {"button": button, "from": start, "to": end})
        self.pressed = None
