// Package launcher starts programs so that their accessibility trees can be read:
// with the environment and the switches that their toolkits need for that. It
// finds them as a freedesktop desktop does, by desktop entry or on the PATH.
//
// It starts nothing by itself and talks to no window system.
package session
