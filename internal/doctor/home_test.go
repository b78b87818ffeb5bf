package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// TestStores checks that the sizes and bounds of the stores are reported, of the files with their
// prefix alone, and that the free space is that of each store's disk.
func TestStores(t *testing.T) {
	data := t.TempDir()
	for name, size := range map[string]int{"state.db": megabyte, "state.db-wal": megabyte / 2, "audit.jsonl": 3 * megabyte} {
		assert.NilError(t, os.WriteFile(filepath.Join(data, name), make([]byte, size), 0o600))
	}
	d := New(Config{Home: data, DataDir: data, Stores: []Store{
		{Name: "runs", Folder: data, Prefix: "state.db", MaxBytes: 256 * megabyte},
		{Name: "index", Folder: filepath.Join(data, "none"), Prefix: "index.db"},
	}})
	f := &Finding{}
	d.home(t.Context(), f)
	assert.Assert(t, is.Len(f.Details, 2))
	assert.Assert(t, strings.HasPrefix(f.Details[0], "runs: 1.5 MB of at most 256"), "%q", f.Details)
	assert.Assert(t, strings.HasPrefix(f.Details[1], "index: 0.0 MB"), "%q", f.Details)
	assert.Assert(t, !strings.Contains(f.Details[1], "at most"), "%q", f.Details)
	if _, known := diskspace.Free(data); known && !strings.Contains(f.Details[0], "; its disk has ") {
		t.Errorf("%q", f.Details)
	}
}
