package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// builtFile is one file that goreleaser built, as in its artifacts.json.
type builtFile struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	OS     string `json:"goos"`
	Arch   string `json:"goarch"`
	Kind   string `json:"type"` // "Binary", "Archive" and others
	Extras struct {
		Checksum string `json:"Checksum"` // "sha256:" and the digits
	} `json:"extra"`
}

// release is the output of goreleaser in a folder.
type release struct {
	shareDir string // folder of the additional files
	dir      string
	version  string
	files    []builtFile
}

func readRelease(dir string) (*release, error) {
	r := &release{dir: dir, shareDir: shareDir()}
	var metadata struct{ Version string }
	for file, into := range map[string]any{"metadata.json": &metadata, "artifacts.json": &r.files} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	r.version = metadata.Version
	return r, nil
}

// find returns the file of a kind for a platform.
func (r *release) find(kind string, t target) (builtFile, error) {
	for _, f := range r.files {
		if f.Kind == kind && f.OS == t.os && f.Arch == t.arch {
			return f, nil
		}
	}
	return builtFile{}, fmt.Errorf("%s contains no %s for %s/%s", r.dir, kind, t.os, t.arch)
}

// archive is a file for download.
type archive struct{ URL, SHA256 string }

func (r *release) archive(who *publisher, t target) (archive, error) {
	f, err := r.find("Archive", t)
	if err != nil {
		return archive{}, err
	}
	sum, ok := strings.CutPrefix(f.Extras.Checksum, "sha256:")
	if !ok {
		return archive{}, fmt.Errorf("%s has no checksum", f.Name)
	}
	return archive{URL: who.url(r.version, f.Name), SHA256: sum}, nil
}

// packageManifests writes the packages and manifests that goreleaser does not: for npm, for MCP's
// registry and bundles, for Homebrew, Scoop and winget.
func packageManifests(dir string) error {
	who, err := loadPublisher()
	if err != nil {
		return err
	}
	r, err := readRelease(dir)
	if err != nil {
		return err
	}
	for _, shelf := range []func(*release, *publisher) error{writeNPMPackages, writeBundles, writeServerManifest, writeManifests} {
		if err := shelf(r, who); err != nil {
			return err
		}
	}
	return nil
}

// indented returns a value as indented JSON.
func indented(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}
