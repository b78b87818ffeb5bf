package dbus

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// validBusName reports whether s is a well-known bus name. Unique names (":1.42")
// are not: they would go around the guard's list.
func validBusName(s string) bool { return !strings.HasPrefix(s, ":") && wire.ValidBusName(s) }
