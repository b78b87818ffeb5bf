// Package atspi reads and works the windows of a Linux desktop by AT-SPI2, the
// D-Bus protocol of its assistive technology. A [Bus] is a desktop.Tree, a
// desktop.Actor and a desktop.Events.
//
// It talks to the session bus, to the accessibility bus that is found there, and,
// where an app offers it, to the app itself over a socket; it reads what /proc
// says of the processes of apps. It starts no bus, moves no pointer and touches no
// window, except that desktop.TakeFocus may raise one.
//
// How it is fast: calls go out hundreds at a time, over the app's own socket where
// there is one; what the app can list at once (Cache.GetItems) is not asked node
// by node; and what was read is kept, by a mirror.Mirror, for as long as the app's events
// and a look at its windows say that it is still so. What an app offers is found out by asking,
// since the same toolkit differs from version to version.
//
// How it is safe: every wait ends with its context. What an app is never asked,
// because it is known to crash or to swallow all memory: Properties.GetAll, the
// children of what has more than maxChildren of them, and of LibreOffice the list of all
// its objects, some of which have gone. The text of a password is
// never read.
//
// The names are those of at-spi2-core: its XML files under /xml, and for numbers
// atspi/atspi-constants.h.
package atspi
