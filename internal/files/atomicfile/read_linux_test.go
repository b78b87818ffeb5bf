package atomicfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestReadToolForm: other file types and too large files are rejected without blocking.
func TestReadToolForm(t *testing.T) {
	folder := t.TempDir()
	pipe, file := filepath.Join(folder, "pipe"), filepath.Join(folder, "file")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	assert.NilError(t, os.WriteFile(file, []byte("1234567"), 0o600))
	link := filepath.Join(folder, "link")
	assert.NilError(t, os.Symlink(file, link))
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
		assert.Check(t, is.Equal(string(got), c.want), "%s %d %q %v", c.path, c.most, got, err)
		assert.Check(t, is.Equal((err == nil), (c.err == "")), "%s %d %q %v", c.path, c.most, got, err)
		assert.Check(t, err == nil || err.Error() == c.err && !strings.Contains(err.Error(), folder), "%s %d %q %v", c.path, c.most, got, err)
	}
}
