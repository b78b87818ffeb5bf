// Package screen implements the windows, the pointer, the keyboard, screenshots, the clipboard and the sign that an agent acts, on Windows.
//
// The gateway's own seat is made of messages that are posted to a window: neither the person's pointer nor the keyboard notices. Programs
// that read their input elsewhere do not get such messages; a pointer in the background is refused there. The person's seat is SendInput.
//
// Calls that can wait for another program run on goroutines that are abandoned at the deadline.
package screen
