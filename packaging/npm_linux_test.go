package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// npmRegistry is a local npm registry with the packages of a folder.
type npmRegistry struct {
	*httptest.Server
	mu      sync.Mutex
	fetched map[string]bool // downloaded packages
}

// newNPMRegistry packs the folders as npm does, and serves them.
func newNPMRegistry(t *testing.T, folder string) *npmRegistry {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	home, args := t.TempDir(), []string{"pack", "--silent", "--ignore-scripts"}
	for _, e := range entries {
		args = append(args, filepath.Join(folder, e.Name()))
	}
	if out, err := npm(t.Context(), home, "http://127.0.0.1:1", "npm", args...).CombinedOutput(); err != nil {
		t.Fatalf("npm pack: %v: %s", err, out)
	}
	tarballs := make(map[string][]byte)
	for _, e := range entries {
		tarballs[e.Name()], err = os.ReadFile(filepath.Join(home, e.Name()+"-"+version+".tgz"))
		assert.NilError(t, err)
	}
	return serveNPM(t, tarballs, version)
}

// serveNPM serves packed packages, by their names.
func serveNPM(t *testing.T, tarballs map[string][]byte, version string) *npmRegistry {
	t.Helper()
	s, offers := &npmRegistry{fetched: make(map[string]bool)}, make(map[string][]byte)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := offers[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			s.mu.Lock()
			s.fetched[strings.TrimPrefix(r.URL.Path, "/")] = true
			s.mu.Unlock()
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	for name, tarball := range tarballs {
		var about map[string]any
		assert.NilError(t, json.Unmarshal(packed(t, tarball, "package/package.json"), &about))
		assert.Check(t, about["scripts"] == nil, "%s runs something when it is installed: %v", name, about["scripts"])
		sum := sha512.Sum512(tarball)
		about["dist"] = map[string]string{"tarball": s.URL + "/" + name + ".tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		offer, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: about}})
		assert.NilError(t, err)
		offers["/"+name], offers["/"+name+".tgz"] = offer, tarball
	}
	return s
}

// packed returns a file of an archive.
func packed(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	assert.NilError(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		assert.NilError(t, err, name)
		if h.Name == name {
			text, err := io.ReadAll(r)
			assert.NilError(t, err)
			return text
		}
	}
}

// exits returns the exit code of a command.
func exits(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return 0
}

// npx fetches the launcher and only the matching program, and runs it.
func TestNPM(t *testing.T) {
	w := newWorld(t)
	r := w.release(t)
	assert.NilError(t, writeNPMPackages(r, publisherOfTests(t)))
	for name, file := range map[string]string{"launcher.json": "aai-gateway", "platform.json": "aai-gateway-win32-x64"} {
		text, err := os.ReadFile(filepath.Join(r.dir, "npm", file, "package.json"))
		assert.NilError(t, err)
		golden(t, name, text)
	}
	s := newNPMRegistry(t, filepath.Join(r.dir, "npm"))
	system, processor := nodePlatform(here())
	fits := "aai-gateway-" + system + "-" + processor

	home := t.TempDir()
	out, err := npm(t.Context(), home, s.URL, "npx", "-y", "aai-gateway", "--version").CombinedOutput()
	assert.NilError(t, err, "%q", out)
	assert.Equal(t, string(out), "aai-gateway 1.2.3\n", "%q", out)
	s.mu.Lock()
	want := []string{fits + ".tgz", "aai-gateway.tgz"}
	assert.Check(t, slices.Equal(slices.Sorted(maps.Keys(s.fetched)), want), "fetched were %v, want %q", s.fetched, want)
	s.mu.Unlock()
	handshake(t, npm(t.Context(), home, s.URL, "npx", "-y", "aai-gateway", "--mcp"), version)

	installsItself(t, s, home)

	out, err = npm(t.Context(), home, s.URL, "npm", "install", "-g", "aai-gateway").CombinedOutput()
	assert.NilError(t, err, "npm install: %v: %s", err, out)
	installed := filepath.Join(home, "prefix", "bin", program)
	run := func(args ...string) *exec.Cmd { return npm(t.Context(), home, s.URL, installed, args...) }
	handshake(t, run("--mcp"), version)
	out, err = run("no such command").CombinedOutput()
	assert.Check(t, is.Equal(exits(t, err), 2), "a wrong command ended with %v: %s", err, out)
	ended(t, run("mcp", "serve", "--http", "0"))
	other := npm(t.Context(), home, s.URL, filepath.Join(home, "prefix", "bin", otherName), "--help")
	out, err = other.CombinedOutput()
	assert.NilError(t, err, out)
	assert.Assert(t, is.Contains(string(out), "axterminator [command]"), out)

	t.Run("passes everything on", func(t *testing.T) {
		found, err := filepath.Glob(filepath.Join(home, "prefix/lib/node_modules/aai-gateway/node_modules", fits, "bin", program))
		assert.NilError(t, err)
		assert.Assert(t, is.Len(found, 1))
		checkSignalsPassOn(t, found[0], run)
	})
	t.Run("says what is missing", func(t *testing.T) { checkMissingBinary(t, s, fits) })
}

// installsItself: the program under npx writes npx into a client's configuration, and not the path
// of its cache; the entry works.
func installsItself(t *testing.T, s *npmRegistry, home string) {
	t.Helper()
	assert.NilError(t, write(filepath.Join(home, ".npmrc"), []byte("registry="+s.URL+"/\n")))
	out, err := npm(t.Context(), home, s.URL, "npx", "-y", "aai-gateway", "install", "--yes", "--client", "cursor", "--profile", "desktop").CombinedOutput()
	assert.NilError(t, err, out)
	assert.Assert(t, is.Contains(string(out), "Started as Cursor starts it: aai-gateway 1.2.3"), out)
	assert.Assert(t, !strings.Contains(string(out), "_npx"), "install by npx: %v: %s", err, out)
	text, err := os.ReadFile(filepath.Join(home, ".cursor/mcp.json"))
	var said struct {
		McpServers map[string]struct {
			Command string
			Args    []string
		}
	}
	assert.NilError(t, errors.Join(err, json.Unmarshal(text, &said)))
	entry := said.McpServers["aai-gateway"]
	got := strings.Join(append([]string{entry.Command}, entry.Args...), " ")
	assert.Check(t, is.Equal(got, "npx -y aai-gateway mcp serve --profile desktop"), "it wrote %s", got)
}

// ended sends the signal to end to a server, once it serves.
func ended(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	said, err := cmd.StderrPipe()
	assert.NilError(t, err)
	assert.NilError(t, cmd.Start())
	text := make([]byte, 12)
	_, err = io.ReadFull(said, text)
	assert.NilError(t, err, "%q", text)
	assert.Equal(t, string(text), "Serving MCP ", "%q", text)
	assert.NilError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, said)
	err = cmd.Wait()
	assert.Check(t, err, "a server that is told to end ends with %v", err)
}

// checkSignalsPassOn replaces the program with test programs.
func checkSignalsPassOn(t *testing.T, at string, run func(...string) *exec.Cmd) {
	put := func(name string) {
		t.Helper()
		other, err := exec.LookPath(name)
		assert.NilError(t, err)
		assert.NilError(t, os.Remove(at))
		assert.NilError(t, os.Symlink(other, at))
	}
	put("cat")
	bytesIn := make([]byte, 1<<20)
	_, _ = rand.Read(bytesIn)
	cmd := run()
	cmd.Stdin = bytes.NewReader(bytesIn)
	out, err := cmd.Output()
	assert.NilError(t, err, "%d %d", len(out), len(bytesIn))
	assert.Assert(t, bytes.Equal(out, bytesIn), "%d bytes came of %d, %v", len(out), len(bytesIn), err)
	put("sh")
	out, err = run("-c", `printf '%s|' "$@"; exit 71`, "", "a b", "", "--", "ü*").Output()
	assert.Check(t, is.Equal(string(out), "a b||--|ü*|"), "%q %v", out, err)
	assert.Check(t, is.Equal(exits(t, err), 71), "%q %v", out, err)
	var exit *exec.ExitError
	err = run("-c", "kill -KILL $$").Run()
	assert.Assert(t, errors.As(err, &exit), "a program that was killed leaves %v", err)
	assert.Equal(t, exit.Sys().(syscall.WaitStatus).Signal(), syscall.SIGKILL, err)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := run("-c", `trap 'exit 42' TERM INT HUP; echo ready; while :; do sleep 0.02; done`)
		out, err := cmd.StdoutPipe()
		assert.NilError(t, err)
		context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
		assert.NilError(t, cmd.Start())
		_, err = io.ReadFull(out, make([]byte, 6))
		assert.NilError(t, err)
		assert.NilError(t, cmd.Process.Signal(signal))
		err = cmd.Wait()
		assert.Check(t, is.Equal(exits(t, err), 42), "after %v it ended with %v", signal, err)
		cancel()
	}
}

// checkMissingBinary: the program's package is missing, or there is none for this computer.
func checkMissingBinary(t *testing.T, s *npmRegistry, fits string) {
	home := t.TempDir()
	if out, err := npm(t.Context(), home, s.URL, "npm", "install", "--prefix", home, "--omit=optional", "aai-gateway").CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v: %s", err, out)
	}
	cmd := npm(t.Context(), home, s.URL, filepath.Join(home, "node_modules/.bin", program), "--version")
	out, err := cmd.CombinedOutput()
	assert.Equal(t, exits(t, err), 1, "%v %s", err, out)
	assert.Assert(t, is.Contains(string(out), "the package "+fits+" is missing"), "%v %s", err, out)
	assert.Assert(t, is.Contains(string(out), "npm install --include=optional aai-gateway@1.2.3"), "%v %s", err, out)
	other := filepath.Join(home, "other.js")
	assert.NilError(t, write(other, []byte("Object.defineProperty(process, 'arch', {value: 'riscv64'});")))
	cmd = npm(t.Context(), home, s.URL, filepath.Join(home, "node_modules/.bin", program), "--version")
	cmd.Env = append(cmd.Env, "NODE_OPTIONS=--require "+other)
	out, err = cmd.CombinedOutput()
	assert.Check(t, is.Equal(exits(t, err), 1), "%v %s", err, out)
	assert.Check(t, strings.Contains(string(out), "there is no program for linux riscv64; there is one for: linux x64, linux arm64") || strings.Contains(string(out), "darwin x64"), "on another computer: %v: %s", err, out)
}
