// Package osascript runs the tools of macOS apps: it turns an [aai.Recipe] with Script or IPC set into an [aai.Action] that runs
// osascript, the interpreter of AppleScript and of JavaScript for Automation (JXA).
//
// The steps of one call, all within the call's deadline:
//
//	compile  a template to constant code with a name for each placeholder (applescript.go, jxa.go), once
//	values   the arguments, as literals (literal.go) or as JSON
//	run      osascript reads code and values from its standard input (driver.go)
//	decode   the printed value to JSON (parse.go), or the number of the error to an error (errors.go, permission.go)
//
// Values never become code: an argument has no influence on the code of a script. The compiler replaces each placeholder by the
// name of a constant, also within a text, which it splits there. AppleScript gets the constants as properties in front of the code,
// each one literal of one function; JXA gets them as one JSON text, which a constant runner parses.
//
// Values come by standard input, and not as arguments of osascript. Every program of every user can read the arguments of a
// process, and a value may be a password. osascript has no third way: with its script at standard input it can read nothing else
// there. The price is that a faulty literal would become code, where an argument could not. So a literal has five escapes and no
// other character of its own meaning; all control characters and line separators are numbers; and a lexer that shares no code with
// this package checks in fuzz tests that the code around the literals is the same for all values.
//
// Numbers of errors decide, since the words depend on the person's language. The few exceptions look for words that are the same
// in every language.
//
// It is composed and checked on Linux with a program in the place of osascript; it never ran on a Mac.
package osascript
