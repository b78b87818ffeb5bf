package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// The tests run at the root of the repository, as the program does.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	code := m.Run()
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

// folder is the world's folder, if there is one.
var folder string

// version and time of the tests' release.
const (
	version = "1.2.3"
	seconds = "1700000000"
)

// here is the platform of the tests.
func here() target { return target{runtime.GOOS, runtime.GOARCH} }

// world is the tests' shared data: the built program, and its additional files.
type world struct{ program, share string }

var build = sync.OnceValues(func() (world, error) {
	dir, err := os.MkdirTemp("", "aai-packaging-")
	if err != nil {
		return world{}, err
	}
	folder = dir
	w := world{program: filepath.Join(dir, program), share: filepath.Join(dir, "share")}
	cmd := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", w.program, "./cmd/aai-gateway")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return w, &exec.Error{Name: string(out), Err: err}
	}
	return w, writeShare(w.share)
})

func newWorld(t *testing.T) world {
	t.Helper()
	w, err := build()
	assert.NilError(t, err)
	return w
}

// publisherOfTests returns the publisher of publisher.env.
func publisherOfTests(t *testing.T) *publisher {
	t.Helper()
	who, err := loadPublisher()
	assert.NilError(t, err)
	return who
}

// release returns a release with this platform's program; the other programs are placeholders.
func (w world) release(t *testing.T) *release {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", seconds)
	r := &release{dir: t.TempDir(), shareDir: w.share, version: version}
	for i, t2 := range targets() {
		binary := builtFile{Name: program, Path: filepath.Join(r.dir, t2.os+t2.arch), OS: t2.os, Arch: t2.arch, Kind: "Binary"}
		if t2 == here() {
			binary.Path = w.program
		} else if err := os.WriteFile(binary.Path, []byte(t2.os), 0o600); err != nil {
			t.Fatal(err)
		}
		packed := builtFile{Name: strings.Join([]string{program, version, t2.os, t2.arch}, "_") + ".tar.gz", OS: t2.os, Arch: t2.arch, Kind: "Archive"}
		packed.Extras.Checksum = "sha256:" + strings.Repeat(string(rune('a'+i)), 64)
		r.files = append(r.files, binary, packed)
	}
	return r
}

// golden compares with a file in testdata; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("packaging", "testdata", "golden", name)
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		assert.NilError(t, write(file, got))
	}
	want, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(string(want), string(got)), "%s", name)
}

// validateSchema checks a text against a published schema.
func validateSchema(t *testing.T, schema string, text []byte) error {
	t.Helper()
	file, err := os.Open(filepath.Join(".cache", "manifests", schema))
	assert.NilError(t, err, "%v: run scripts/need-manifests", err)
	defer file.Close() //nolint:errcheck // it was read
	read, err := jsonschema.UnmarshalJSON(file)
	assert.NilError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	assert.NilError(t, c.AddResource("schema.json", read))
	compiled, err := c.Compile("schema.json")
	assert.NilError(t, err)
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return compiled.Validate(value)
}
