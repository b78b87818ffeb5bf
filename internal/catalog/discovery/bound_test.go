package discovery

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// TestSitesInMemoryAreBounded checks that memory has at most a hundred sites, without the least
// recently used one.
func TestSitesInMemoryAreBounded(t *testing.T) {
	w := NewWebCatalog(WebConfig{Cache: t.TempDir()})
	hosts := make([]netguard.Host, 0, 101)
	for i := range 101 {
		h, err := netguard.ParseHost(fmt.Sprintf("shop%d.example.com", i))
		assert.NilError(t, err)
		hosts = append(hosts, h)
		if i == 100 {
			w.remember(w.sites[hosts[0]]) // used again
		}
		w.remember(&site{target: target{host: h}})
	}
	if _, first := w.sites[hosts[0]]; len(w.sites) != 100 || !first || w.sites[hosts[1]] != nil {
		t.Errorf("%d sites; the first %t, the second %t", len(w.sites), first, w.sites[hosts[1]] != nil)
	}
}
