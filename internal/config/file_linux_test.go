package config

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAFileThatHasNoEnd checks that endless files do not block.
func TestAFileThatHasNoEnd(t *testing.T) {
	d := newTestHome(t)
	pipe := filepath.Join(d.home, "pipe.json")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", "/dev/null"} {
		_, err := d.read(Flags{File: path})
		expectInvalid(t, err, path+": the configuration cannot be read: expected a regular file")
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	d := newTestHome(t)
	loop := filepath.Join(d.home, ".aai", "config.json")
	assert.NilError(t, os.Mkdir(filepath.Dir(loop), 0o700))
	assert.NilError(t, os.Symlink("config.json", loop))
	_, err := d.read(Flags{})
	expectInvalid(t, err, loop+": the configuration cannot be read: too many levels of symbolic links")

	// A file in place of the folder does not count as a missing configuration either.
	file := d.file(t, "file", "")
	_, err = d.read(Flags{File: filepath.Join(file, "config.json")})
	expectInvalid(t, err, filepath.Join(file, "config.json")+": the configuration cannot be read: not a directory")
}
