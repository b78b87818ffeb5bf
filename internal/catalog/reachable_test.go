package catalog

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// TestThisComputer checks that a descriptor from the web cannot address this computer, in any
// spelling.
func TestThisComputer(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost/": true, "http://LocalHost:80/x": true, "http://api.localhost/": true, "https://127.9.9.9/": true,
		"https://[::1]:8443/": true, "https://[::ffff:127.0.0.1]/": true,
		"https://example.com/": false, "https://localhost.example.com/": false, "https://notlocalhost/": false,
		"https://128.0.0.1/": false, "https://[::2]/": false, "https://127.0.0.1.example.com/": false,
	} {
		assert.Check(t, is.Equal(netguard.CrossesToLoopback("example.org", hostname(address)), want), "%s is on this computer: %v", address, !want)
	}
}
