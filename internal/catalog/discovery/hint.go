package discovery

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// Limits on a hint.
const (
	maxHintName  = 120
	maxHintText  = 300
	maxHintItems = 8
)

// text returns the first string member with one of the names, or "".
func text(o map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := o[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// objects returns the objects in the lists that are members of o with these names.
func objects(o map[string]any, names ...string) []map[string]any {
	var all []map[string]any
	for _, name := range names {
		list, _ := o[name].([]any)
		for _, item := range list {
			if object, ok := item.(map[string]any); ok {
				all = append(all, object)
			}
		}
	}
	return all
}

// addItem adds an item that a document lists.
func (h *Hint) addItem(words ...string) {
	line := aai.CleanLabel(strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " "),
		maxHintName)
	if line == "" {
		return
	}
	if h.Count++; len(h.Items) < maxHintItems {
		h.Items = append(h.Items, line)
	}
}

// nonEmpty returns the hint, or nil if it is empty.
func (h *Hint) nonEmpty() *Hint {
	if h.Name == "" && h.Count == 0 {
		return nil
	}
	return h
}

// readCatalog reads an AI catalog: entries with types and addresses.
func readCatalog(o map[string]any) *Hint {
	h := &Hint{}
	if host, ok := o["host"].(map[string]any); ok {
		h.Name = text(host, "displayName", "name")
	}
	for _, e := range objects(o, "entries", "servers", "agents") {
		h.addItem(text(e, "displayName", "name", "title", "identifier", "id"), text(e, "mediaType", "type"),
			text(e, "url", "href"))
	}
	if h.Count == 0 {
		return nil
	}
	return h
}

// readServerCard reads the card of an MCP server, by SEP-2127 and its predecessors.
func readServerCard(o map[string]any) *Hint {
	about := o
	if info, ok := o["serverInfo"].(map[string]any); ok {
		about = info
	}
	h := &Hint{Name: text(about, "title", "name"), Summary: text(o, "description")}
	if h.Summary == "" {
		h.Summary = text(about, "description")
	}
	for _, remote := range objects(o, "remotes", "transports", "endpoints") {
		h.addItem(text(remote, "type"), text(remote, "url", "endpoint"))
	}
	if transport, ok := o["transport"].(map[string]any); ok {
		h.addItem(text(transport, "type"), text(transport, "endpoint", "url"))
	}
	return h.nonEmpty()
}

// readLinks reads an API catalog (RFC 9727), which is a link set (RFC 9264).
func readLinks(o map[string]any) *Hint {
	h := &Hint{}
	for _, set := range objects(o, "linkset") {
		for _, relation := range []string{"service-desc", "item", "service-doc"} {
			for _, link := range objects(set, relation) {
				if href := text(link, "href"); href != "" {
					h.addItem(relation, text(link, "title"), href)
				}
			}
		}
	}
	return h.nonEmpty()
}

// readOpenAPI reads an OpenAPI document: its title and its paths.
func readOpenAPI(o map[string]any) *Hint {
	if text(o, "openapi", "swagger") == "" {
		return nil
	}
	info, _ := o["info"].(map[string]any)
	h := &Hint{Name: strings.TrimSpace(text(info, "title") + " " + text(info, "version")),
		Summary: text(info, "description")}
	paths, _ := o["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		h.addItem(path)
	}
	return h.nonEmpty()
}

// readAgentCard reads the card of an A2A agent.
func readAgentCard(o map[string]any) *Hint {
	h := &Hint{Name: text(o, "name"), Summary: text(o, "description")}
	if h.Name == "" {
		return nil
	}
	for _, skill := range objects(o, "skills") {
		h.addItem(text(skill, "name", "id"))
	}
	return h
}

// readNotes reads llms.txt: a title, a summary as a block quote, and links.
func readNotes(body []byte) *Hint {
	if !utf8.Valid(body) || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return nil
	}
	h := &Hint{}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		switch {
		case h.Name == "" && strings.HasPrefix(line, "# "):
			h.Name = strings.TrimPrefix(line, "# ")
		case h.Name == "":
			if line != "" {
				return nil // the first line must be the title
			}
		case h.Summary == "" && strings.HasPrefix(line, "> "):
			h.Summary = strings.TrimPrefix(line, "> ")
		case strings.HasPrefix(line, "- [") || strings.HasPrefix(line, "* ["):
			title, _, _ := strings.Cut(line[3:], "]")
			h.addItem(title)
		}
	}
	return h.nonEmpty()
}
