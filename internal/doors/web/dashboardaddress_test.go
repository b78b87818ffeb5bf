package web_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway/internal/doors/web"
)

// TestDashboardHosts: a page is told of while it is shown, and not of one whose gateway is gone.
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
	if err != nil {
		t.Fatal(err)
	}
	want("aai-x.localhost:3000")
	left := filepath.Join(folder, "left.page")
	if err := os.WriteFile(left, []byte("aai-old.localhost:3000"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("aai-x.localhost:3000")
	if _, err := os.Stat(left); err == nil {
		t.Error("what a gateway left behind that ended is still there")
	}
	end()
	want()
}

// TestAnnounceDuringDashboardHosts: a page that begins while gateways look for pages is told of
// all the same. A file that is there and not yet locked looks as if its gateway had ended.
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
					_, _ = web.DashboardHosts(folder) // it is looked below what it says
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
