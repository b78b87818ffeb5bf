package main

import (
	"embed"
	"os"
	"path/filepath"
)

//go:embed npm
var npmFiles embed.FS

// nodePlatform returns Node.js's names for a platform.
func nodePlatform(t target) (system, processor string) {
	system, processor = t.os, t.arch
	if t.os == "windows" {
		system = "win32"
	}
	if t.arch == "amd64" {
		processor = "x64"
	}
	return system, processor
}

// binaryName returns the name of the program's file.
func binaryName(t target) string {
	if t.os == "windows" {
		return program + ".exe"
	}
	return program
}

// packageJSON is the package.json of an npm package.
type packageJSON struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	MCPName     string            `json:"mcpName,omitempty"` // name in MCP's registry
	Keywords    []string          `json:"keywords,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Files       []string          `json:"files"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	// Prefer keeps package managers from running the program inside an archive: it must be a file.
	Prefer *bool `json:"preferUnplugged,omitempty"`
}

func (r *release) packageJSON(who *publisher, name string) packageJSON {
	return packageJSON{
		Name: name, Version: r.version, Description: summary, License: "Apache-2.0", Homepage: who.homepage,
		Repository: map[string]string{"type": "git", "url": who.repository},
	}
}

// writeNPMPackages writes the folders of the packages: a launcher, and one per platform with the
// program. npm fetches only the matching one. No package runs install scripts.
func writeNPMPackages(r *release, who *publisher) error {
	dir := filepath.Join(r.dir, "npm")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	launcher := r.packageJSON(who, who.npm)
	launcher.MCPName = who.registry
	launcher.Keywords = []string{"mcp", "mcp-server", "agents", "automation", "accessibility", "desktop"}
	launcher.Bin = map[string]string{program: "aai-gateway.js", otherName: "aai-gateway.js"}
	launcher.Files = []string{"aai-gateway.js", "LICENSE", "README.md"}
	launcher.Engines = map[string]string{"node": ">=18"}
	launcher.Optional = make(map[string]string)
	for _, t := range targets() {
		system, processor := nodePlatform(t)
		name := who.npm + "-" + system + "-" + processor
		launcher.Optional[name] = r.version
		if err := r.platformPackage(who, t, name, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	into := filepath.Join(dir, who.npm)
	if err := writePackage(into, launcher); err != nil {
		return err
	}
	script, err := npmFiles.ReadFile("npm/aai-gateway.js")
	if err != nil {
		return err
	}
	readme, err := npmFiles.ReadFile("npm/README.md")
	if err != nil {
		return err
	}
	if err := write(filepath.Join(into, "README.md"), readme); err != nil {
		return err
	}
	return writeProgram(filepath.Join(into, "aai-gateway.js"), script)
}

func (r *release) platformPackage(who *publisher, t target, name, into string) error {
	system, processor := nodePlatform(t)
	p := r.packageJSON(who, name)
	p.Description = "The program of " + who.npm + " for " + system + " " + processor + "; install " + who.npm + "."
	p.OS, p.CPU, p.Prefer = []string{system}, []string{processor}, new(bool)
	*p.Prefer = true
	p.Files = []string{"bin", "LICENSE", "THIRD-PARTY.txt"}
	binary, err := r.find("Binary", t)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary.Path)
	if err != nil {
		return err
	}
	if err := writePackage(into, p); err != nil {
		return err
	}
	if err := copyFile(filepath.Join(r.shareDir, "THIRD-PARTY.txt"), filepath.Join(into, "THIRD-PARTY.txt")); err != nil {
		return err
	}
	return writeProgram(filepath.Join(into, "bin", binaryName(t)), content)
}

// writePackage writes the files that every package has.
func writePackage(into string, p packageJSON) error {
	text, err := indented(p)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(into, "package.json"), text); err != nil {
		return err
	}
	return copyFile("LICENSE", filepath.Join(into, "LICENSE"))
}

// writeProgram writes an executable file.
func writeProgram(path string, content []byte) error {
	if err := write(path, content); err != nil {
		return err
	}
	return os.Chmod(path, 0o755) //nolint:gosec // published programs are executable for everyone
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return write(to, content)
}
