// Package uia reads and operates elements by UI Automation, the accessibility interface of Windows.
//
// A window is read by one bulk request for all properties of all elements of the control view, and a second one for the values of all
// elements that are not password fields. So the content of a password field never reaches the gateway. Where a system caches no trees, as
// Wine, the source walks through the tree. Acts use the control patterns of an element.
//
// The ID of an element holds the window and the runtime ID. The elements of the last reads stay known by their COM pointers; others are
// searched by the runtime ID.
//
// Files without calls of Windows turn the properties of an element into a desktop.Element; they are tested on every system.
package uia
