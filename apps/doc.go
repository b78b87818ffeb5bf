// Package apps has only tests: the real gateway operates real programs, and independent
// witnesses verify the effects.
//
// An act goes through the program as agents use it, by MCP or the command line, with a
// grant. Beside it a libatspi client listens to all events like a screen reader. The
// witnesses are a reader of the accessibility bus in another library (witness), xdotool,
// xprop, xclip, window pictures, files on disk, and a page's own JavaScript. The tests
// compare the gateway's statements with theirs.
//
// A task is a sequence of acts with a goal, as agents get it. The test judges the final
// state, and reports the text that the agent wrote and read.
//
// AAI_APPS=all means all programs and all kinds of acts (make test-apps), otherwise one
// program per toolkit. AAI_APPS_ONLY names one program or task, AAI_APPS_GATEWAY a built
// gateway, and AAI_APPS_SAY=1 prints every act.
package apps
