// Package gui provides the desktop app: tools that see and operate the windows of any program, on
// the interfaces of internal/desktop.
//
// Each tool names its program in the parameter "app", which FindTarget resolves, so that consent and
// journal refer to the program.
//
// A program that hangs delays only its own calls, because each program has a queue in Gateway.Do.
// Tools find an element at the moment of the action (operate/locate.go), and report only observed
// changes (operate/act.go). They use the person's focus and pointer only in the mode "focus".
package gui
