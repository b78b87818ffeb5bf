package web_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/doors/web"
)

// TestDashboardHosts checks that a dashboard is listed while it is served, and not after its gateway has ended.
func TestDashboardHosts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	want := func(hosts ...string) {
		t.Helper()
		got, err := web.DashboardHosts(folder)
		if diff := cmp.Diff(hosts, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	want()
	end, err := web.AnnounceDashboard(folder, "aai-X.localhost:3000")
	assert.NilError(t, err)
	want("aai-x.localhost:3000")
	left := filepath.Join(folder, "left.page")
	assert.NilError(t, os.WriteFile(left, []byte("aai-old.localhost:3000"), 0o600))
	want("aai-x.localhost:3000")
	_, err = os.Stat(left)
	assert.Check(t, err != nil, "what a gateway left behind that ended is still there")
	end()
	want()
}

// TestAnnounceDuringDashboardHosts checks that a dashboard that starts during a lookup is listed. A new
// file without a lock looks like one of an ended gateway.
func TestAnnounceDuringDashboardHosts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	over := make(chan struct{})
	var looking sync.WaitGroup
	for range 4 {
		looking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					_, _ = web.DashboardHosts(folder) // only the lookup's effect matters
				}
			}
		})
	}
	for i := range 100 {
		end, err := web.AnnounceDashboard(folder, "aai-x.localhost:3000")
		if err != nil {
			t.Errorf("start %d: %v", i, err)
			break
		}
		hosts, err := web.DashboardHosts(folder)
		if err != nil || !slices.Contains(hosts, "aai-x.localhost:3000") {
			t.Errorf("start %d: the page is shown, and tools on windows do not know it: %v, %v", i, hosts, err)
			break
		}
		end()
	}
	close(over)
	looking.Wait()
}
