package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// bundleManifest is the manifest of an MCP bundle, in version 0.3.
type bundleManifest struct {
	ManifestVersion string              `json:"manifest_version"`
	Name            string              `json:"name"`
	DisplayName     string              `json:"display_name"`
	Version         string              `json:"version"`
	Description     string              `json:"description"`
	Long            string              `json:"long_description"`
	Author          map[string]string   `json:"author"`
	Repository      map[string]string   `json:"repository"`
	Homepage        string              `json:"homepage"`
	Icon            string              `json:"icon"`
	Server          bundleServer        `json:"server"`
	Generated       bool                `json:"tools_generated"`
	Keywords        []string            `json:"keywords"`
	License         string              `json:"license"`
	Compatibility   map[string][]string `json:"compatibility"`
}

type bundleServer struct {
	Type   string        `json:"type"`
	Entry  string        `json:"entry_point"`
	Config bundleCommand `json:"mcp_config"`
}

type bundleCommand struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// bundleIcon is the side of a bundle's icon in pixels, as its documentation recommends.
const bundleIcon = 512

func (r *release) bundleManifest(who *publisher, t target) bundleManifest {
	system, _ := nodePlatform(t)
	entry := "server/" + binaryName(t)
	return bundleManifest{
		ManifestVersion: "0.3", Name: program, DisplayName: "AAI Gateway", Version: r.version, Description: summary,
		Long: "Agents use apps through their interfaces, their windows and the web. You are asked before " +
			"an agent uses something for the first time, and everything is on record.",
		Author:     map[string]string{"name": who.name},
		Repository: map[string]string{"type": "git", "url": who.repository},
		Homepage:   who.homepage, Icon: "icon.png",
		Server: bundleServer{Type: "binary", Entry: entry, Config: bundleCommand{
			Command: "${__dirname}/" + entry, Args: []string{"--mcp"}, Env: map[string]string{},
		}},
		Generated: true, Keywords: []string{"automation", "desktop", "accessibility"}, License: "Apache-2.0",
		Compatibility: map[string][]string{"platforms": {system}},
	}
}

// writeBundles writes a bundle for each platform. A client installs it by opening the file.
func writeBundles(r *release, who *publisher) error {
	at, err := epoch(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	icon, err := iconPNG(bundleIcon)
	if err != nil {
		return err
	}
	for _, t := range targets() {
		binary, err := r.find("Binary", t)
		if err != nil {
			return err
		}
		text, err := indented(r.bundleManifest(who, t))
		if err != nil {
			return err
		}
		files := []bundleFile{{"manifest.json", 0o644, text}, {"icon.png", 0o644, icon}}
		for _, f := range []struct {
			name, from string
			mode       fs.FileMode
		}{
			{"LICENSE", "LICENSE", 0o644},
			{"THIRD-PARTY.txt", filepath.Join(r.shareDir, "THIRD-PARTY.txt"), 0o644},
			{"server/" + binaryName(t), binary.Path, 0o755},
		} {
			content, err := os.ReadFile(f.from)
			if err != nil {
				return err
			}
			files = append(files, bundleFile{f.name, f.mode, content})
		}
		packed, err := pack(files, at)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%s_%s_%s_%s.mcpb", program, r.version, t.os, t.arch)
		if err := write(filepath.Join(r.dir, "mcpb", name), packed); err != nil {
			return err
		}
	}
	return nil
}

// bundleFile is a file of a bundle.
type bundleFile struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// pack returns a zip archive of the files, all with the same time.
func pack(files []bundleFile, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
