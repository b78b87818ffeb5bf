package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestWatch: changes of a file, of a folder's entries and of a folder created later are reported
// by their words; siblings are not.
func TestWatch(t *testing.T) {
	folder := t.TempDir()
	write := func(name string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("line\n"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("below/first")
	told := make(chan string, 1000)
	if err := atomicfile.Watch(t.Context(), map[string]string{
		filepath.Join(folder, "file"): "file", filepath.Join(folder, "below"): "below", filepath.Join(folder, "later", "file"): "later",
	}, func(word string) { told <- word }); err != nil {
		t.Fatal(err)
	}
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
			if got := <-told; got != "file" {
				t.Errorf("%s is told as %q", c.path, got)
			}
		}
	}
}
