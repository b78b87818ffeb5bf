package splice

import "bytes"

// An Extra is a part of a text that JSON does not have, and that some programs accept.
type Extra string

// Extras.
const (
	ByteOrderMark Extra = "a byte order mark"
	Comment       Extra = "a comment"
	TrailingComma Extra = "a comma after the last value"
)

// ExtraIn returns the position of the first of the given extras in a text of the format JSON, or nil. The text
// must be readable.
func ExtraIn(text []byte, extras ...Extra) *Fault {
	for _, extra := range extras {
		if extra == ByteOrderMark && bytes.HasPrefix(text, []byte(byteOrderMark)) {
			return &Fault{1, 1, string(extra)}
		}
	}
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	comma := -1 // the offset of a comma after which nothing but space and comments came
	for i := 0; i < len(text); i++ {
		found, at := Extra(""), i
		switch c := text[i]; {
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			comma = -1
		case bytes.HasPrefix(text[i:], []byte("//")):
			found = Comment
			i += max(0, bytes.IndexByte(text[i:], '\n'))
		case bytes.HasPrefix(text[i:], []byte("/*")):
			found = Comment
			i += max(1, bytes.Index(text[i:], []byte("*/"))+1)
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			found, at, comma = TrailingComma, comma, -1
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			comma = -1
		}
		for _, extra := range extras {
			if found == extra {
				line, column := position(text, at)
				return &Fault{line, column, string(extra)}
			}
		}
	}
	return nil
}
