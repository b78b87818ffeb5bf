// Package windowstest opens windows with real controls of Windows for tests, and reads their true state.
//
// A test binary is also the program that shows the windows: its TestMain calls [Main].
package windowstest
