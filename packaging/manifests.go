package main

import (
	"bytes"
	"embed"
	"io/fs"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed manifests
var manifestFiles embed.FS

// serverJSON describes a server for MCP's registry, in its schema of 2025-12-11.
type serverJSON struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Repository  map[string]string `json:"repository"`
	Website     string            `json:"websiteUrl"`
	Version     string            `json:"version"`
	Packages    []serverPackage   `json:"packages"`
}

type serverPackage struct {
	Registry   string            `json:"registryType"`
	Identifier string            `json:"identifier"`
	Version    string            `json:"version"`
	Hint       string            `json:"runtimeHint"`
	Transport  map[string]string `json:"transport"`
	Args       []serverArgument  `json:"packageArguments"`
}

type serverArgument struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// writeServerManifest writes server.json. It names only the npm package, which fits every
// platform: the schema cannot say which platform a bundle is for.
func writeServerManifest(r *release, who *publisher) error {
	text, err := indented(serverJSON{
		Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:   who.registry, Title: "AAI Gateway", Description: summary,
		Repository: map[string]string{"url": who.repository, "source": "git"}, Website: who.homepage, Version: r.version,
		Packages: []serverPackage{{
			Registry: "npm", Identifier: who.npm, Version: r.version, Hint: "npx",
			Transport: map[string]string{"type": "stdio"},
			Args:      []serverArgument{{"positional", "mcp"}, {"positional", "serve"}},
		}},
	})
	if err != nil {
		return err
	}
	return write(filepath.Join(r.dir, "server.json"), text)
}

// writeManifests fills in the templates of Homebrew, Scoop and winget.
func writeManifests(r *release, who *publisher) error {
	archives := make(map[string]archive)
	for _, t := range targets() {
		a, err := r.archive(who, t)
		if err != nil {
			return err
		}
		archives[t.os+"_"+t.arch] = a
	}
	date, err := releaseDate()
	if err != nil {
		return err
	}
	about := map[string]any{
		"Version": r.version, "Homepage": who.homepage, "Publisher": who.name, "Winget": who.winget,
		"Summary": summary, "Archives": archives, "Date": date,
	}
	return fs.WalkDir(manifestFiles, "manifests", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		form, err := template.New(filepath.Base(name)).Option("missingkey=error").Funcs(template.FuncMap{"upper": strings.ToUpper}).ParseFS(manifestFiles, name)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := form.Execute(&out, about); err != nil {
			return err
		}
		to := strings.TrimPrefix(strings.TrimSuffix(name, ".tmpl"), "manifests/")
		return write(filepath.Join(r.dir, strings.ReplaceAll(to, "WINGET", who.winget)), out.Bytes())
	})
}
