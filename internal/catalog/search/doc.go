// Package search finds, among the tools of all apps, those that do what somebody asks for:
// by the words of their descriptors, in which BM25 ranks them, and by what the person uses
// and thinks of them. What an app says of its own worth counts for nothing.
//
// The index is in memory and made anew by the process that asks; it follows the catalog at
// each question. What was called it is told by the program, out of the index of the journal;
// what the person thinks of an app is a small file of theirs.
//
// The room knows the words of the house, how a tool is told in a line (internal/catalog) and
// databases. It runs nothing: what it answers with are calls that somebody else may make.
package search
