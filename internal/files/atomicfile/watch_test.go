package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestWatch: changes of a file, of a folder's entries and of a folder created later are reported
// by their words; siblings are not.
func TestWatch(t *testing.T) {
	folder := t.TempDir()
	write := func(name string) {
		t.Helper()
		path := filepath.Join(folder, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		assert.NilError(t, err)
		_, err = f.WriteString("line\n")
		assert.NilError(t, err)
		assert.NilError(t, f.Close())
	}
	write("below/first")
	told := make(chan string, 1000)
	assert.NilError(t, atomicfile.Watch(t.Context(), map[string]string{
		filepath.Join(folder, "file"): "file", filepath.Join(folder, "below"): "below", filepath.Join(folder, "later", "file"): "later",
	}, func(word string) { told <- word }))
	for _, c := range []struct{ path, word string }{
		{"file", "file"}, {"beside", ""}, {"file", "file"}, {"below/second", "below"}, {"later/file", "later"},
	} {
		write(c.path)
		for c.word != "" && <-told != c.word { // until it is reported, however often others are
		}
		if c.word == "" {
			for len(told) > 0 {
				<-told
			}
			write(c.path)
			write("file")
			got := <-told
			assert.Check(t, is.Equal(got, "file"), "%s is told as %q", c.path, got)
		}
	}
}
