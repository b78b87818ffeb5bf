package clients

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/clients/splice"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// maxRead limits a configuration that Servers reads, in bytes.
const maxRead = 16 << 20

// A Server is an MCP server in a client's configuration, other than the entry EntryName. It holds no values, because
// those may be secrets.
type Server struct {
	ID     string // the client's ID
	Client string // the client's name for people
	Name   string // as the person wrote it
	File   string
	// Transport is the server's launcher if it is a well-known one, or the host of its URL; else
	// "a program" or "a web address".
	Transport string
	Variables []string // the names of its variables and request headers, sorted
}

// Servers returns the servers in the files of all installed clients, and the paths of unreadable files.
func (r *Installer) Servers() (found []Server, unread []string) {
	for _, c := range clients() {
		file, at, here := r.clientFile(c)
		if !here || file == "" {
			continue
		}
		text, err := atomicfile.Read(file, atomicfile.ReadLimits{Size: maxRead})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			_, _, err = splice.Find(text, at.splicePlace())
		}
		if err != nil {
			unread = append(unread, file)
			continue
		}
		others := splice.Others(text, at.splicePlace())
		for _, name := range slices.Sorted(maps.Keys(others)) {
			if others[name] == nil {
				continue
			}
			found = append(found, Server{ID: c.id, Client: c.name, Name: name, File: file, Transport: transportOf(others[name]),
				Variables: variablesOf(others[name])})
		}
	}
	return found, unread
}

// transportOf describes the transport of a server without any text that could be a secret.
func transportOf(fields map[string]any) string {
	command, _ := commandOf(fields)
	if command != "" {
		base := strings.TrimSuffix(filepath.Base(command), ".exe")
		if slices.Contains([]string{"npx", "node", "bun", "bunx", "deno", "uv", "uvx", "pipx", "python", "python3", "docker",
			"podman", "go", "java", "dotnet"}, base) {
			return base
		}
		return "a program"
	}
	for _, key := range []string{"url", "serverUrl", "httpUrl", "uri"} {
		address, _ := fields[key].(string)
		if u, err := url.Parse(address); err == nil && address != "" {
			return cmp.Or(u.Hostname(), "a web address")
		}
	}
	return "a web address"
}

// variablesOf returns the names of a server's variables and headers.
func variablesOf(fields map[string]any) []string {
	names := make(map[string]bool)
	for _, key := range []string{"env", "envs", "headers", "http_headers", "env_http_headers", "env_keys", "env_vars"} {
		switch held := fields[key].(type) {
		case map[string]any:
			for name := range held {
				names[name] = true
			}
		case []any:
			for _, item := range held {
				if name, ok := item.(string); ok && !strings.Contains(name, "=") {
					names[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
