package atomicfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestReadToolForm: other file types and too large files are rejected without blocking.
func TestReadToolForm(t *testing.T) {
	folder := t.TempDir()
	pipe, file := filepath.Join(folder, "pipe"), filepath.Join(folder, "file")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("1234567"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		most int
		want string
		err  string
	}{
		{file, 7, "1234567", ""},
		{link, 7, "1234567", ""},
		{file, 6, "", "expected at most 6 bytes"},
		{pipe, 7, "", "expected a regular file"},
		{folder, 7, "", "expected a regular file"},
		{"/dev/zero", 7, "", "expected a regular file"},
		{file + "s", 7, "", "no such file or directory"},
	} {
		got, err := atomicfile.Read(c.path, atomicfile.ReadLimits{Size: c.most})
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && (err.Error() != c.err || strings.Contains(err.Error(), folder)) {
			t.Errorf("%s, %d: %q, %v", c.path, c.most, got, err)
		}
	}
}
