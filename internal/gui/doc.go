// Package ax is the desktop as an app: the tools that see and operate the windows
// of any program through the words of internal/desktop, whatever the platform.
//
// Every tool names the program it touches in its parameter "app"; Targets finds
// it, so that consent and the journal go by the program and not by the desktop.
// One tool is one file.
//
// What holds for all of them: a program that hangs costs only the calls to it, since
// its lane is a stage of Gateway.Do; what an element is, is decided at the moment of
// the action (operate/locate.go); and a reply says what was seen to change, never what
// was hoped for (operate/act.go). The background comes first: the person's focus and pointer are
// touched only in the mode "focus".
package gui
