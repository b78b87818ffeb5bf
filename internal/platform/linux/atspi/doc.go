// Package atspi reads and operates the windows of a Linux desktop by AT-SPI2, the D-Bus protocol of its
// assistive technology. A [Bus] implements desktop.Tree, desktop.Actor and desktop.Events.
//
// It connects to the session bus, to the accessibility bus found there, and to an app's own socket if the
// app offers one. It also reads /proc for the processes of apps. It starts no bus, moves no pointer and
// changes no window, except that desktop.TakeFocus may raise one.
//
// Speed: calls go out in batches of hundreds, over the app's own socket if possible. Lists of all objects
// (Cache.GetItems) replace node-by-node queries. A treecache.Cache keeps the tree as long as the app's
// events and a check of its windows confirm it. Traits of an app are probed, since one toolkit differs
// between versions.
//
// Safety: every wait ends with its context. The package never sends queries that crash apps or exhaust
// memory: Properties.GetAll, the children of a node with more than maxChildren, and LibreOffice's list of
// all objects, which contains deleted ones. It never reads the text of a password.
//
// Names follow at-spi2-core: its XML files under /xml, and for numbers atspi/atspi-constants.h.
package atspi
