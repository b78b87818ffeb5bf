package discovery

import (
	"fmt"
	"testing"

	"aai/internal/egress"
)

// A hundred sites are in memory and no more; of those the one goes that was not used for
// the longest.
func TestSitesInMemoryAreBounded(t *testing.T) {
	w := New(Config{Cache: t.TempDir()})
	hosts := make([]egress.Host, 0, 101)
	for i := range 101 {
		h, err := egress.ParseHost(fmt.Sprintf("shop%d.example.com", i))
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, h)
		if i == 100 {
			w.keep(w.sites[hosts[0]]) // used again
		}
		w.keep(&site{target: target{host: h}})
	}
	if _, first := w.sites[hosts[0]]; len(w.sites) != 100 || !first || w.sites[hosts[1]] != nil {
		t.Errorf("%d sites; the first %t, the second %t", len(w.sites), first, w.sites[hosts[1]] != nil)
	}
}
