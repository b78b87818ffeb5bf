// Package a11y checks the elements of programs against rules of the Web Content Accessibility Guidelines (WCAG) 2.2.
// Rules are rows of a table: see [Rules]. They judge what a screen reader gets, what the window shows, and the way of the
// keyboard focus if a [Walk] is given.
package a11y
