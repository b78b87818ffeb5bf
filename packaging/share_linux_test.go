package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// The manual has a page for every command, and no other.
func TestManual(t *testing.T) {
	w := newWorld(t)
	wanted := map[string]bool{program + ".1.gz": true}
	var visit func(above []string)
	visit = func(above []string) {
		out, err := exec.CommandContext(t.Context(), w.program, append(append([]string{"__complete"}, above...), "")...).Output()
		assert.NilError(t, err, "%q", above)
		for line := range strings.Lines(string(out)) {
			name, short, _ := strings.Cut(strings.TrimSpace(line), "\t")
			path := append(slices.Clone(above), name)
			page := program + "-" + strings.Join(path, "-") + ".1.gz"
			if name == "" || name == "help" || strings.HasPrefix(name, ":") || wanted[page] || !hasHelp(t, w, path, short) {
				continue
			}
			wanted[page] = true
			visit(path)
		}
	}
	visit(nil)
	pages, err := os.ReadDir(filepath.Join(w.share, "man"))
	assert.NilError(t, err)
	got := make(map[string]bool)
	for _, p := range pages {
		got[p.Name()] = true
	}
	if !maps.Equal(got, wanted) || len(got) < 30 {
		t.Errorf("the pages are\n%q, want\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(wanted)))
	}
	text := unzipped(t, filepath.Join(w.share, "man", "aai-gateway-mcp-serve.1.gz"))
	for _, says := range []string{`.TH "AAI-GATEWAY-MCP-SERVE" "1"`, "127.0.0.1:8741", "--http-auth"} {
		assert.Check(t, is.Contains(text, says), "the page does not say %q:\n%s", says, text)
	}
}

// hasHelp reports whether the path is a command, and not a completed operand.
func hasHelp(t *testing.T, w world, path []string, short string) bool {
	out, err := exec.CommandContext(t.Context(), w.program, append([]string{"help"}, path...)...).Output()
	return err == nil && short != "" && strings.Contains(string(out), program+" "+strings.Join(path, " "))
}

func unzipped(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	assert.NilError(t, err)
	defer f.Close() //nolint:errcheck // it was read
	z, err := gzip.NewReader(f)
	assert.NilError(t, err)
	text, err := io.ReadAll(z)
	assert.NilError(t, err)
	return string(text)
}

// The completions are those that the program prints.
func TestCompletions(t *testing.T) {
	w := newWorld(t)
	for file, shell := range map[string]string{"aai-gateway.bash": "bash", "_aai-gateway": "zsh", "aai-gateway.fish": "fish", "aai-gateway.ps1": "powershell"} {
		got, err := os.ReadFile(filepath.Join(w.share, "completions", file))
		assert.NilError(t, err)
		want, err := exec.CommandContext(t.Context(), w.program, "completion", shell).Output()
		assert.NilError(t, err, file)
		assert.Assert(t, bytes.Equal(got, want), "%s is not what the program prints (%v)", file, err)
		assert.Assert(t, len(got) >= 1000, "%s is not what the program prints (%v)", file, err)
	}
}

// Every module in the program has its licence in the notices, and its entry in the SBOM.
func TestNoticesAndParts(t *testing.T) {
	w := newWorld(t)
	text, err := os.ReadFile(filepath.Join(w.share, "THIRD-PARTY.txt"))
	assert.NilError(t, err)
	info, err := buildinfo.ReadFile(w.program)
	assert.NilError(t, err)
	list := filepath.Join(t.TempDir(), "parts.json")
	assert.NilError(t, sbom(w.program, version, list))
	said, err := os.ReadFile(list)
	assert.NilError(t, err)
	var bom cyclonedx.BOM
	assert.NilError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(said), cyclonedx.BOMFileFormatJSON).Decode(&bom))
	parts := make(map[string]bool)
	for _, c := range *bom.Components {
		parts[c.Name+" "+c.Version] = c.Hashes != nil && len((*c.Hashes)[0].Value) == 64
	}
	assert.Assert(t, len(info.Deps) >= 20, "%d parts are listed of %d modules and Go", len(parts), len(info.Deps))
	assert.Assert(t, is.Len(parts, len(info.Deps)+1), "%d", len(info.Deps))
	for _, m := range info.Deps {
		assert.Check(t, is.Contains(string(text), "\n"+m.Path+" "+m.Version+"\n"), "there is no notice of %s %s", m.Path, m.Version)
		assert.Check(t, parts[m.Path+" "+m.Version], "%s %s is not listed with its sum", m.Path, m.Version)
	}
	// Modules of other platforms are there too.
	for _, says := range []string{"The Go programming language", "Redistribution and use in source and binary forms", "github.com/danieljoos/wincred"} {
		assert.Check(t, is.Contains(string(text), says), "the notices do not say %q", says)
	}
	others, err := licences(t.TempDir())
	assert.Check(t, err != nil, "a module without a licence has %q", others)
}

// The icon is the same drawing in all its files.
func TestIcons(t *testing.T) {
	file := svg(iconShapes())
	golden(t, "aai-gateway.svg", file)
	for decoder := xml.NewDecoder(bytes.NewReader(file)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, side := range []int{16, 64, 512} {
		p := renderIcon(iconShapes(), side)
		corner, plate, inside, gate := p.NRGBAAt(0, 0), p.NRGBAAt(side*5/64, side/2), p.NRGBAAt(side*28/64, side*38/64), p.NRGBAAt(side*14/64, side*40/64)
		assert.Check(t, corner.A == 0, "%d: corner %v, plate %v, gate %v, pointer %v", side, corner, plate, gate, inside)
		assert.Check(t, is.Equal(plate, iconShapes()[0].fill), "%d %v", side, corner)
		assert.Check(t, is.Equal(gate, iconShapes()[1].fill), "%d %v", side, corner)
		assert.Check(t, is.Equal(inside, iconShapes()[2].fill), "%d %v", side, corner)
	}
}

// The same source produces the same files, in any folder.
func TestShareIsReproducible(t *testing.T) {
	w := newWorld(t)
	again := filepath.Join(t.TempDir(), "elsewhere")
	assert.NilError(t, writeShare(again))
	n := 0
	err := filepath.WalkDir(w.share, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		name, _ := filepath.Rel(w.share, path)
		first, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		second, err := os.ReadFile(filepath.Join(again, name))
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s differs (%v)", name, err)
		}
		for _, place := range []string{os.TempDir() + "/", os.Getenv("HOME")} {
			assert.Check(t, !bytes.Contains(first, []byte(place)), "%s names a place of this computer: %s", name, place)
		}
		return nil
	})
	assert.NilError(t, err, "%d", n)
	assert.Assert(t, n >= 40, "%d files were compared, %v", n, err)
}

// The files in goreleaser's configuration exist, and the desktop metadata are valid.
func TestWhatIsPacked(t *testing.T) {
	w := newWorld(t)
	config, err := os.ReadFile("packaging/.goreleaser.yaml")
	assert.NilError(t, err)
	found := regexp.MustCompile(`src: "?([^,"}]+)`).FindAllSubmatch(config, -1)
	assert.Check(t, len(found) >= 25, "only %d files are packed", len(found))
	for _, m := range found {
		file := string(m[1])
		if file == program { // the target of a link, in the packages
			continue
		}
		if rest, ok := strings.CutPrefix(file, shareDir()+"/"); ok {
			file = filepath.Join(w.share, rest)
		}
		if files, err := filepath.Glob(file); err != nil || len(files) == 0 {
			t.Errorf("%s is not there (%v)", m[1], err)
		}
	}
	entry := "packaging/files/aai-gateway.desktop"
	out, err := exec.CommandContext(t.Context(), "desktop-file-validate", entry).CombinedOutput()
	assert.NilError(t, err, entry)
	assert.Assert(t, is.Len(out, 0), entry)
}

// The units are valid for systemd, and their command exists.
func TestUnits(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	for _, unit := range []string{"aai-gateway.service", "aai-gateway.socket"} {
		text, err := os.ReadFile(filepath.Join("packaging/files", unit))
		assert.NilError(t, err)
		// The package installs it there later.
		text = bytes.ReplaceAll(text, []byte("/usr/bin/"+program), []byte(w.program))
		text = regexp.MustCompile(`(?m)^Documentation=.*\n`).ReplaceAll(text, nil)
		assert.NilError(t, os.WriteFile(filepath.Join(dir, unit), text, 0o600))
	}
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", "--user", "--recursive-errors=no", "verify", filepath.Join(dir, "aai-gateway.socket"), filepath.Join(dir, "aai-gateway.service"))
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(out, 0))
}

func TestPublisher(t *testing.T) {
	who := publisherOfTests(t)
	assert.Check(t, is.Equal(who.url("1.2.3", "a.zip"), "https://example.org/aai-gateway/releases/download/v1.2.3/a.zip"))
	text, err := os.ReadFile("packaging/publisher.env")
	assert.NilError(t, err)
	for _, file := range []string{"", string(text) + "AAI_HOME=x\n", strings.Replace(string(text), "AAI_NPM=", "#", 1)} {
		who, err := newPublisher(file)
		assert.Check(t, err != nil, "%q %+v", file, who)
	}
	// A shell reads the same values.
	out, err := exec.CommandContext(context.Background(), "sh", "-c", `. packaging/publisher.env; echo "$AAI_MAINTAINER"`).Output()
	assert.NilError(t, err, "%q", out)
	assert.Equal(t, strings.TrimSpace(string(out)), who.maintainer, "%q", out)
}
