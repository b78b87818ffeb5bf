// Package native calls the C functions of macOS that the desktop needs: CoreFoundation, the accessibility API, windows and
// pictures of Quartz, and facts about processes. It uses no cgo.
//
// No Mac has run this code. With the tag axdouble the same code runs on Linux against a double in C, which counts references and
// rejects wrong arguments; see internal/platform/darwin/ax/testdata.
package native
