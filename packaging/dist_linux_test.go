//go:build dist

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// distVersion returns the version of the packages in dist.
func distVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("dist", "metadata.json"))
	if err != nil {
		t.Fatalf("%v: run scripts/packages first", err)
	}
	var about struct{ Version string }
	if err := json.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	return about.Version
}

// firstRun runs a program as a newcomer does: in an empty home, with a bare environment. front is the emulator, if any.
func firstRun(t *testing.T, version string, front []string, program string) {
	t.Helper()
	command := func(args ...string) *exec.Cmd {
		args = append(append(append([]string{}, front...), program), args...)
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		return cmd
	}
	if out, err := command("--version").CombinedOutput(); err != nil || string(out) != "aai-gateway "+version+"\n" {
		t.Fatalf("--version: %q, %v", out, err)
	}
	if out, err := command("--help").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("Available Commands:")) {
		t.Errorf("--help: %s, %v", out, err)
	}
	if out, err := command("apps").CombinedOutput(); err != nil || bytes.Contains(out, []byte("warning")) {
		t.Errorf("apps: %s, %v", out, err)
	}
	handshake(t, command("mcp", "serve"), version)
}

// TestDistFirstRun unpacks the archive and the deb of each Linux, and runs the program. arm64 runs in an emulator.
func TestDistFirstRun(t *testing.T) {
	version := distVersion(t)
	for arch, front := range map[string][]string{"amd64": nil, "arm64": {"qemu-aarch64"}} {
		for kind, unpack := range map[string]func(dir string) (*exec.Cmd, string){
			"archive": func(dir string) (*exec.Cmd, string) {
				return exec.Command("tar", "-xzf", "dist/aai-gateway_"+version+"_linux_"+arch+".tar.gz", "-C", dir), filepath.Join(dir, program)
			},
			"deb": func(dir string) (*exec.Cmd, string) {
				found, err := filepath.Glob("dist/aai-gateway_*_" + arch + ".deb")
				if err != nil || len(found) != 1 {
					t.Fatalf("the deb is %q, %v", found, err)
				}
				return exec.Command("dpkg-deb", "-x", found[0], dir), filepath.Join(dir, "usr", "bin", program)
			},
		} {
			t.Run(arch+" "+kind, func(t *testing.T) {
				cmd, path := unpack(t.TempDir())
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				firstRun(t, version, front, path)
			})
		}
	}
}

// TestDistNPM installs the packages of npm from a registry on this computer.
func TestDistNPM(t *testing.T) {
	version, tarballs := distVersion(t), make(map[string][]byte)
	found, err := filepath.Glob("dist/npm/*-" + version + ".tgz")
	if err != nil || len(found) < 2 {
		t.Fatalf("npm's packages are %q, %v", found, err)
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tarballs[strings.TrimSuffix(filepath.Base(file), "-"+version+".tgz")] = text
	}
	s, home := serveNPM(t, tarballs, version), t.TempDir()
	if out, err := npm(t.Context(), home, s.URL, "npx", "-y", "aai-gateway", "--version").CombinedOutput(); err != nil || string(out) != "aai-gateway "+version+"\n" {
		t.Errorf("npx: %q, %v", out, err)
	}
	if out, err := npm(t.Context(), home, s.URL, "npm", "install", "-g", "aai-gateway").CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v: %s", err, out)
	}
	firstRun(t, version, nil, filepath.Join(home, "prefix", "bin", program))
}
