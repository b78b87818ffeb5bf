package dbus

import (
	"strings"

	"aai/internal/dbuswire"
)

// validBusName reports whether s is a well-known bus name. Unique names (":1.42")
// are not: they would go around the guard's list.
func validBusName(s string) bool { return !strings.HasPrefix(s, ":") && dbuswire.ValidBusName(s) }
