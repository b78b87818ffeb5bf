// Package comcall calls COM objects by their tables of functions, and moves texts, VARIANTs and arrays between Go and COM.
//
// It is the part that the driver of declared COM tools and the readers of windows share. It knows no interface but IUnknown.
package comcall
