// Package private runs a desktop session that has nothing to do with the person's own:
// a home, a screen (Xvfb), a window manager (openbox), and programs. The demo shows itself
// in one, and tests have theirs. It is empty on other systems than Linux.
//
// It touches a temporary folder and processes of its own. Nothing ends by itself: who has
// made a [Session] calls End and Remove.
package private
