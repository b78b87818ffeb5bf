// Package quartz lists and manages the windows on the screen of macOS, takes pictures of them, and reads and writes the clipboard.
//
// Coordinates are points, as in package ax; pictures have one pixel a point. Titles and pictures need the person's permission to record
// the screen. No Mac has run this code; the tests run it on Linux against the double of package ax.
package quartz
