package clients

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/gybob/aai-gateway/internal/clients/splice"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A Scope is a part of a client's configuration with MCP servers: those for all projects, or those of one.
type Scope struct {
	File string
	// Place names the part for people: the file, or a key of it.
	Place string
	// Folder is the project's folder, in which the client starts the servers; empty: all projects.
	Folder  string
	Servers map[string]map[string]any // as in ServersOf
	// Fault says why the servers cannot be read.
	Fault error
}

// ScopesOf returns the scopes of a client with servers or faults: first the one for all projects, then
// those of single projects in the client's own file, then the client's file in the folder project if that
// is not empty.
func (r *Installer) ScopesOf(id, project string) (all []Scope, of Client, err error) {
	c, err := r.known(id)
	if err != nil {
		return nil, Client{}, err
	}
	servers, of, err := r.ServersOf(id)
	all = []Scope{{File: of.File, Place: of.File, Servers: servers, Fault: err}}
	if err == nil && c.projects != "" {
		all = append(all, r.projectScopes(c, of.File)...)
	}
	for _, p := range c.projectPlaces {
		file := filepath.Join(project, filepath.FromSlash(p.file))
		if project == "" || file == of.File {
			continue
		}
		if s := r.fileScope(p, file); len(s.Servers) > 0 || s.Fault != nil {
			s.Folder = project
			all = append(all, s)
		}
	}
	if err != nil && len(all) == 1 {
		return nil, of, err
	}
	return all, of, nil
}

// projectScopes returns the scopes of single projects that are in the client's own file.
func (r *Installer) projectScopes(c client, file string) (all []Scope) {
	text, err := atomicfile.Read(file, atomicfile.ReadLimits{Size: maxFile})
	if err != nil {
		return nil // ServersOf has read it
	}
	projects := splice.Others(text, splice.Place{Format: splice.JSON, Path: []string{c.projects}})
	for _, folder := range slices.Sorted(maps.Keys(projects)) {
		s := Scope{File: file, Place: c.projects + "[" + folder + "] of " + file, Folder: folder,
			Servers: make(map[string]map[string]any)}
		servers, _ := projects[folder]["mcpServers"].(map[string]any)
		for name, entry := range servers {
			fields, _ := entry.(map[string]any)
			if !r.startsUs(commandOf(fields)) {
				s.Servers[name] = fields
			}
		}
		if len(s.Servers) > 0 && filepath.IsAbs(folder) {
			all = append(all, s)
		}
	}
	return all
}

// fileScope returns the servers of a project's file.
func (r *Installer) fileScope(p place, file string) Scope {
	s := Scope{File: file, Place: file}
	text, err := atomicfile.Read(file, atomicfile.ReadLimits{Size: maxRead})
	if err == nil {
		_, _, err = splice.Find(text, p.splicePlace())
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Fault = plainCause(err)
		}
		return s
	}
	s.Servers = splice.Others(text, p.splicePlace())
	maps.DeleteFunc(s.Servers, func(_ string, fields map[string]any) bool { return r.startsUs(commandOf(fields)) })
	return s
}
