// Package wayland operates the windows of a Wayland session: it lists them, takes pictures, moves the
// pointer, presses keys, and reads and sets the clipboard. It speaks the Wayland protocol itself.
//
// Wayland has no common way to do this. A compositor offers parts, as protocols in its registry and as
// interfaces of its own. The offer decides which parts work, never the compositor's name:
//
//	windows and their places   the IPC of sway, scripts of KWin, an extension of GNOME Shell
//	pictures                   wlr-screencopy, the desktop portal
//	pointer                    wlr-virtual-pointer, remote control
//	keys                       virtual-keyboard, with a keymap of the gateway's own; remote control, with the compositor's
//	clipboard                  ext-data-control, wlr-data-control, remote control
//
// Remote control is a session of the desktop portal, with devices by EI, to which the person agrees once. In private
// sessions the compositor itself opens it without a question.
//
// There is no second seat: pointer and keys are the person's, so every input needs the seat
// desktop.PersonSeat. A part that is not offered fails with AUTOMATION_NOT_SUPPORTED.
package wayland
