"""Makes keymaps by libxkbcommon, and says what strokes on them type: reads requests as lines of JSON, and answers each.

{"layouts": …, "variant": …}: answers a keymap.
{"keymap": …, "group": …, "locked": …, "strokes": [[HELD…, CODE]…]}: answers the typed characters, as code points.
"""

import ctypes
import json
import sys

xkb = ctypes.CDLL("libxkbcommon.so.0")
for name in ("xkb_context_new", "xkb_keymap_new_from_names", "xkb_keymap_new_from_string", "xkb_keymap_get_as_string", "xkb_state_new"):
    getattr(xkb, name).restype = ctypes.c_void_p
TEXT, DOWN, OFFSET = 1, 1, 8


class Names(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("rules", "model", "layout", "variant", "options")]


def pointer(value):
    return ctypes.c_void_p(value)


context = pointer(xkb.xkb_context_new(0))


def keymap_of(layouts, variant):
    names = Names(b"evdev", b"pc105", layouts.encode(), variant.encode(), None)
    keymap = pointer(xkb.xkb_keymap_new_from_names(context, ctypes.byref(names), 0))
    return ctypes.string_at(xkb.xkb_keymap_get_as_string(keymap, TEXT)).decode()


def typed(keymap, group, locked, strokes):
    keymap = pointer(xkb.xkb_keymap_new_from_string(context, keymap.encode(), TEXT, 0))
    for *held, code in strokes:
        state = pointer(xkb.xkb_state_new(keymap))
        xkb.xkb_state_update_mask(state, 0, 0, locked, 0, 0, group)
        for modifier in held:
            xkb.xkb_state_update_key(state, modifier + OFFSET, DOWN)
        # By the keysym, as toolkits do it.
        yield xkb.xkb_keysym_to_utf32(xkb.xkb_state_key_get_one_sym(state, code + OFFSET))
        xkb.xkb_state_unref(state)


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(list(typed(**request)) if "keymap" in request else keymap_of(**request)), flush=True)
