package patterns_test

import (
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/gui/patterns"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// TestRealWindows: windows of real programs were labelled by hand before the rules were written. Half of them, by the
// hash of their names, were held back while the rules were made.
func TestRealWindows(t *testing.T) {
	labels, err := os.ReadFile(filepath.Join("testdata", "labels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	right, held, rightHeld, all := 0, 0, 0, 0
	for line := range strings.Lines(string(labels)) {
		label := strings.Fields(line)
		text, err := os.ReadFile(filepath.Join("testdata", "windows", label[0]+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		s := snapshottest.Read(t, string(text))
		s.App.IsBrowser = strings.HasPrefix(label[0], "chromium") || strings.HasPrefix(label[0], "firefox")
		got := patterns.Detect(s)
		want := patterns.Pattern(strings.Trim(label[1], "-"))
		isHeld := isHeldBack(label[0])
		all++
		if isHeld {
			held++
		}
		if got.Pattern == want && string(got.State) == label[2] {
			right++
			if isHeld {
				rightHeld++
			}
			continue
		}
		if isHeld && os.Getenv("SHOW_HELD") == "" {
			continue
		}
		t.Logf("%s: %q %s, want %q %s", label[0], got.Pattern, got.State, want, label[2])
	}
	t.Logf("%d of %d are right, %d of %d of those that were held back", right, all, rightHeld, held)
}

func isHeldBack(name string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()%2 == 0
}
