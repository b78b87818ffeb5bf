// Package patterns recognizes common kinds of windows and states of programs by the roles and the structure of a
// snapshot, and suggests next steps. It uses words, in many languages, only where roles do not tell kinds apart.
package patterns
