// Package cdp reads and operates the pages of connected browsers over DevTools, as a second way beside the platform's
// accessibility. [Wrap] puts it before a platform's backend: the tree of a connected browser has the platform's elements
// for the browser's own bars, and elements of DevTools for the page that a window shows. Tools see one kind of element.
// All other programs reach the platform unchanged.
//
// A script in an isolated world of each frame reads the page, see the folder page: Chromium's own accessibility tree takes
// half a second over DevTools for a table of 200 rows. Pages cannot reach that world. An element has the number that
// the script gave it, and the token of its document, so an element of a document that was left is never another one.
//
// Only the tab that a window shows is read and operated. If a page does not answer, for example while a dialog of
// JavaScript is open, or if the connection ends, the platform's tree of the page is used.
package cdp
