//go:build unix

package discovery_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// TestACopyThatIsAPipe checks that a pipe in place of a copy is ignored without blocking.
func TestACopyThatIsAPipe(t *testing.T) {
	folder := t.TempDir()
	h, err := netguard.ParseHost("example.com")
	must(t, err)
	must(t, discovery.WriteCache(folder, h, notes))
	for _, name := range []string{"aai.json", "aai.json.meta"} {
		place := folder + "/example.com/" + name
		must(t, os.Remove(place))
		must(t, syscall.Mkfifo(place, 0o600))
		read := make(chan bool, 1)
		go func() {
			_, found := discovery.ReadCache(folder, h)
			read <- found
		}()
		select {
		case found := <-read:
			assert.Check(t, !found, "%s counts", name)
		case <-time.After(10 * time.Second):
			t.Errorf("%s is waited for", name)
		}
	}
}
