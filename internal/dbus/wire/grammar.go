package wire

import "strings"

// The grammar of names, from the specification's "Valid Names" and "Valid Object
// Paths".

// MaxName is the length limit of a name other than an object path.
const MaxName = 255

// ValidBusName reports whether s is a name on the bus: a unique one (":1.42"), or a
// well-known one.
func ValidBusName(s string) bool {
	unique, isUnique := strings.CutPrefix(s, ":")
	return len(s) <= MaxName && (isUnique && validDotted(unique, true, true) || validDotted(s, true, false))
}

// ValidInterface reports whether s is the name of an interface, or of an error.
func ValidInterface(s string) bool { return validDotted(s, false, false) }

// validDotted checks for at least two elements separated by dots.
func validDotted(s string, dashes, digitsFirst bool) bool {
	if len(s) > MaxName {
		return false
	}
	dots, begin := 0, true
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if begin {
				return false
			}
			dots, begin = dots+1, true
		case isLetter(c) || c == '-' && dashes || isDigit(c) && (!begin || digitsFirst):
			begin = false
		default:
			return false
		}
	}
	return dots > 0 && !begin
}

// ValidMember reports whether s is the name of a method or a signal.
func ValidMember(s string) bool {
	if s == "" || len(s) > MaxName || isDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// ValidPath reports whether s is an object path.
func ValidPath(s string) bool {
	if s == "/" {
		return true
	}
	if s == "" || s[0] != '/' || s[len(s)-1] == '/' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !isLetter(c) && !isDigit(c) && (c != '/' || s[i-1] == '/') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isLetter accepts the letters and "_", which the specification treats alike.
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
