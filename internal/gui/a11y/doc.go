// Package a11y checks the elements of programs against rules of the Web Content Accessibility Guidelines (WCAG) 2.2.
// Rules are rows of a table: see [Rules]. They judge what a screen reader gets and what the window shows; the order of
// the keyboard focus is not checked.
package a11y
