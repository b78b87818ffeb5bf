// Package ei is a client of the EI protocol, by which programs emulate a pointer and a keyboard. The other end is a
// compositor, its EIS; the caller brings the socket to it.
//
// The package also reads the keymap of a keyboard, and finds the keys for a character. Protocol:
// https://libinput.pages.freedesktop.org/libei/interfaces/.
package ei
