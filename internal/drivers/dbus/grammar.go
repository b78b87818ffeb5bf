package dbus

import "strings"

// The grammar of names, from the specification's "Valid Names" and "Valid Object
// Paths".

const maxName = 255

// validBusName reports whether s is a well-known bus name. Unique names
// (":1.42") are not: they would go around the guard's list.
func validBusName(s string) bool { return validDotted(s, "-") }

func validInterface(s string) bool { return validDotted(s, "") }

func validDotted(s, also string) bool {
	if len(s) > maxName || !strings.Contains(s, ".") {
		return false
	}
	for element := range strings.SplitSeq(s, ".") {
		if element == "" || isDigit(element[0]) || !only(element, also) {
			return false
		}
	}
	return true
}

// validMember is for the names of methods, and of properties, to which the
// specification gives no grammar of their own.
func validMember(s string) bool {
	return s != "" && len(s) <= maxName && !isDigit(s[0]) && only(s, "")
}

func validPath(s string) bool {
	if s == "/" {
		return true
	}
	if !strings.HasPrefix(s, "/") {
		return false
	}
	for element := range strings.SplitSeq(s[1:], "/") {
		if element == "" || !only(element, "") {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// only reports whether s consists of ASCII letters, digits, "_" and also.
func only(s, also string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && !isDigit(c) && c != '_' && strings.IndexByte(also, c) < 0 {
			return false
		}
	}
	return true
}
