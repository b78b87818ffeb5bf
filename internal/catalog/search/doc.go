// Package search finds tools of all apps for a request. It ranks them by the words of their
// descriptors; the person's use and ratings adjust the rank. Praise by an app about itself counts
// for nothing.
//
// A [Search] keeps the index in memory and updates it from the catalog at each request. The
// program provides the usage from the journal's index; a small file holds the ratings. The
// package runs no tools: results contain calls for the caller to make.
package search
