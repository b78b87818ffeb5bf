"""Shows a window of 400 by 300 pixels without a background and fills it when the server asks: draw.py TITLE WIDTH fills the
first WIDTH pixels of each row."""
import ctypes
import sys

x = ctypes.CDLL("libX11.so.6")
x.XOpenDisplay.restype = ctypes.c_void_p
x.XDefaultRootWindow.restype = x.XCreateSimpleWindow.restype = ctypes.c_ulong
x.XCreateGC.restype = ctypes.c_void_p
d = ctypes.c_void_p(x.XOpenDisplay(None))
w = ctypes.c_ulong(x.XCreateSimpleWindow(d, ctypes.c_ulong(x.XDefaultRootWindow(d)), 0, 0, 400, 300, 0, 0, 0))
x.XSetWindowBackgroundPixmap(d, w, ctypes.c_ulong(0))
x.XStoreName(d, w, sys.argv[1].encode())
gc = ctypes.c_void_p(x.XCreateGC(d, w, 0, None))
x.XSetForeground(d, gc, ctypes.c_ulong(0x3366CC))
exposure = 1 << 15
x.XSelectInput(d, w, ctypes.c_long(exposure))
x.XMapWindow(d, w)
event = ctypes.create_string_buffer(192)
while True:
    x.XNextEvent(d, event)
    x.XFillRectangle(d, w, gc, 0, 0, int(sys.argv[2]), 300)
    x.XFlush(d)
