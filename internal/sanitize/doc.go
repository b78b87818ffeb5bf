// Package hygiene says what of strangers' texts and of secrets may be shown, kept and
// said again: text without what does not show or would be markup, what is called like a
// secret, values that hide themselves, and texts without the secrets in them, however
// they are written. It imports nothing of ours, so that everybody may ask it, and does
// no I/O.
package sanitize
