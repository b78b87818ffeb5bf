package dbus

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// validBusName reports whether s is a well-known bus name. It rejects unique names (":1.42"),
// because they would bypass the guard's list.
func validBusName(s string) bool { return !strings.HasPrefix(s, ":") && wire.ValidBusName(s) }
