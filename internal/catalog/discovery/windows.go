package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// kindProgram is the kind of installed programs of Windows that only have windows.
const kindProgram = "program"

// maxInstalled limits the reported programs.
const maxInstalled = 500

// An InstalledProgram is a program of Windows' Start menu or of App Paths.
type InstalledProgram struct {
	Name    string // by which it is started
	Path    string
	Comment string // its own description
}

// scanPrograms reports the installed programs, each file once.
func (r *Scanner) scanPrograms(ctx context.Context) sourceResult {
	var p sourceResult
	seen := make(map[string]bool)
	for _, program := range r.cfg.Programs(ctx) {
		path := strings.ToLower(program.Path)
		if seen[path] || !strings.HasSuffix(path, ".exe") {
			continue // another name of it, or a document such as a help page
		}
		if len(seen) == maxInstalled {
			p.notes = append(p.notes, fmt.Sprintf("only %d installed programs were listed", maxInstalled))
			break
		}
		seen[path] = true
		name := cleanName(program.Name)
		w := Integration{
			ID: kindProgram + " " + name, Kind: kindProgram, App: name, State: StateInstalled, Benefit: "starts it, for use of its windows",
			HowTo: "Not by a call: start it (ax_connect of the app desktop), and use its windows.", Locations: []string{cleanLine(program.Path)}, Source: "program:" + program.Name,
		}
		if comment := cleanName(program.Comment); comment != "" {
			w.Benefit += ": " + comment
		}
		if r.isDenied([]string{program.Name}) {
			w.HowTo = DeniedHowTo
		}
		p.integrations = append(p.integrations, w)
	}
	return p
}

// scanRegistry reports the MCP servers of Windows' registry of agents.
func (r *Scanner) scanRegistry(ctx context.Context) sourceResult {
	var p sourceResult
	text, err := r.cfg.ServerRegistry(ctx)
	if err == nil && text == nil {
		return p // this Windows has none
	}
	var found []registeredServer
	if err == nil {
		found, err = parseServerRegistry(text)
	}
	if err != nil {
		p.notes = append(p.notes, "Windows' registry of MCP servers was not read: "+cleanName(err.Error()))
	}
	if len(found) > maxServers {
		p.notes = append(p.notes, fmt.Sprintf("of Windows' registry %d MCP servers were left out", len(found)-maxServers))
		found = found[:maxServers]
	}
	for _, s := range found {
		name := cmp.Or(cleanName(s.Name), `""`)
		w := Integration{
			ID: cleanName(kindServer + " windows " + name), Kind: kindServer, App: name, State: StateConfigured,
			Benefit: "the tools of an MCP server that Windows lists", Source: "odr:" + cleanName(s.ID),
			HowTo: "A descriptor with this command makes an app of it: odr.exe mcp run --proxy " + cleanName(s.ID),
		}
		if s.Description != "" {
			w.Benefit += ": " + cleanName(s.Description)
		}
		if r.isDenied([]string{s.Name, s.ID}) {
			w.HowTo = DeniedHowTo
		}
		p.integrations = append(p.integrations, w)
	}
	return p
}

// A registeredServer is an MCP server of Windows' registry. All of it is a stranger's text.
type registeredServer struct{ Name, Description, ID string }

// parseServerRegistry reads the output of "odr.exe list", in the form in which Microsoft's sample for hosts of MCP reads it. A server
// without a package to run is left out.
func parseServerRegistry(text []byte) ([]registeredServer, error) {
	var list struct {
		StructuredContent *struct {
			Servers []struct {
				Server struct {
					Name, Description string
					Packages          []struct{ Identifier string }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("odr.exe list wrote no JSON: %w", err)
	}
	if list.StructuredContent == nil {
		return nil, errors.New("odr.exe list wrote no structuredContent")
	}
	var found []registeredServer
	for _, s := range list.StructuredContent.Servers {
		if len(s.Server.Packages) == 0 || s.Server.Packages[0].Identifier == "" {
			continue
		}
		found = append(found, registeredServer{s.Server.Name, s.Server.Description, s.Server.Packages[0].Identifier})
	}
	return found, nil
}
