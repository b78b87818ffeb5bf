// Package wintree reads and operates the programs of Windows as trees of elements: it implements desktop.Tree, desktop.Actor and
// desktop.Events.
//
// Each top-level window is read by one [Source]: UI Automation, or else window messages, with MSAA for child windows of unknown classes.
// The ID of an element begins with the prefix of its source, so that later calls reach the same source.
package wintree
