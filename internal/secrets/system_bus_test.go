//go:build unix && !darwin

package secrets

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestReachable checks that the library is used only if it finds the right bus.
func TestReachable(t *testing.T) {
	login := fmt.Sprintf("unix:path=/run/user/%d/bus", os.Getuid())
	for _, c := range []struct{ name, own, found, want string }{
		{"the own environment's", "unix:path=/a", "unix:path=/a", ""},
		{"the login's, which the library finds", "", login, ""},
		{"another, which it does not find", "", "unix:path=/b", "does not look"},
		{"another than the own environment's", "unix:path=/a", "unix:path=/b", "does not look"},
		{"the login's, and another in the environment", "unix:path=/a", login, "does not look"},
		{"none", "", "", "none was found"},
		{"none that counts", "unix:path=/a", "", "leads to none that can be trusted"},
		{"one that is to be started", "autolaunch:", "autolaunch:", "no bus that runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("DBUS_SESSION_BUS_ADDRESS", c.own)
			err := reachable(func(string) string { return c.found })
			assert.Check(t, is.Equal((err == nil), (c.want == "")), "%v %q", err, c.want)
			assert.Check(t, err == nil || strings.Contains(err.Error(), c.want), "%v %q", err, c.want)
		})
	}
}
