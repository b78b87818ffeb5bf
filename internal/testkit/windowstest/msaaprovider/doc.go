// Package msaaprovider shows the controls of comwindow by IAccessible. It shares no code with the source that it tests. The rows of lists
// are simple elements without objects of their own.
package msaaprovider
