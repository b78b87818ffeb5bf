package clients

import (
	"encoding/base64"
	"encoding/json"
	"net/url"

	"github.com/gybob/aai-gateway/internal/clients/splice"
)

// janEntry returns an entry of Jan, which starts the active ones.
func janEntry(command string, args []string) []splice.Field {
	return append(standardEntry(command, args), splice.Field{Name: "active", Value: true})
}

// serversText returns the configuration with the gateway alone, in the form of most clients.
func serversText(command string, args []string) string {
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{EntryName: map[string]any{
		"type": "stdio", "name": EntryName, "command": command, "args": args}}})
	if err != nil {
		return ""
	}
	return string(text)
}

// manualCherry is for Cherry Studio, which keeps its servers in a database.
func manualCherry(command string, args []string) (text, link string) {
	text = serversText(command, args)
	return text, "cherrystudio://mcp/install?servers=" + base64.RawURLEncoding.EncodeToString([]byte(text))
}

// manualLobeHub is for LobeHub, which keeps its servers in a database.
func manualLobeHub(command string, args []string) (text, link string) {
	schema, err := json.Marshal(map[string]any{
		"identifier": EntryName, "name": EntryName, "author": EntryName, "version": "1.0.0",
		"description": "Operates the apps of this computer",
		"config":      map[string]any{"type": "stdio", "command": command, "args": args},
	})
	if err != nil {
		return serversText(command, args), ""
	}
	query := url.Values{"type": {"mcp"}, "id": {EntryName}, "schema": {string(schema)}}
	return serversText(command, args), "lobehub://plugin/install?" + query.Encode()
}

// manualYAML is for LibreChat, whose folder is unknown.
func manualYAML(command string, args []string) (text, link string) {
	at := place{format: splice.YAML}.splicePlace()
	whole, err := splice.Put(nil, at, stdioEntry(command, args))
	if err != nil {
		return "", ""
	}
	return "# Into librechat.yaml, below mcpServers if it has that already:\n" + string(whole), ""
}
