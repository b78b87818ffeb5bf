// Package recording records the person's acts in one program as the steps of a workflow, and finds elements again that
// have changed since.
//
// A [Recorder] combines two sources. The window system reports that a button or a key was pressed, and in which process.
// The accessibility tree says which element was there, and its changes afterwards. Characters that the person types are
// never seen: a text is the value that its field has in the end. Fields for passwords, and fields with names that mark secrets,
// are not read.
package recording
