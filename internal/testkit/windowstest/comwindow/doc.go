// Package comwindow is a program of Windows with one window and the controls of the common fixture in memory, as a process of its own
// for tests. A provider for UI Automation or IAccessible shows its controls to clients.
package comwindow
