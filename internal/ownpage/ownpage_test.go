package ownpage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aai/internal/ownpage"
)

// TestHosts: a page is told of while it is shown, and not of one whose gateway is gone.
func TestHosts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	want := func(hosts ...string) {
		t.Helper()
		got, err := ownpage.Hosts(folder)
		if diff := cmp.Diff(hosts, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	want()
	end, err := ownpage.Announce(folder, "aai-X.localhost:3000")
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
