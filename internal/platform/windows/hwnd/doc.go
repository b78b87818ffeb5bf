// Package hwnd reads and operates the standard controls of Windows by messages to their windows. It implements wintree.Source.
//
// A control is known by the class of its window. Messages below WM_USER carry their texts and rectangles between programs; those of the
// common controls need memory in the other program, which a program of 32 bits lays out differently, so that the items of its common
// controls stay unread. An act is posted, or sent with a limit, where the program may answer it by a dialog: no act waits for a dialog.
//
// Wine 10 lacks menus of other programs (GetMenuItemInfo), and hides them from this package.
package hwnd
