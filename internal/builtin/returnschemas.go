package builtin

import (
	"encoding/json"

	"github.com/gybob/aai-gateway"
)

// Return schemas of tools that return rows. A property with a title is a column of the table for
// people, in this order. The other properties are for programs.
const (
	appRows = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"id": {"type": "string", "title": "app"}, "name": {"type": "string", "title": "name"},
		"tools": {"type": "integer", "title": "tools"}, "runnable": {"type": "boolean", "title": "runs"},
		"description": {"type": "string", "title": "description"},
		"aliases": {"type": "array", "items": {"type": "string"}, "title": "aliases"},
		"not_started": {"type": "boolean"}, "platform": {"type": "string"}, "source": {"type": "string"}, "origin": {"type": "string"}}}}`

	scanRows = `{"type": "object", "properties": {"files": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"status": {"type": "string", "title": "status"}, "app": {"type": "string", "title": "app"},
		"tools": {"type": "integer", "title": "tools"}, "path": {"type": "string", "title": "file"},
		"place": {"type": "string", "title": "place"}, "not_started": {"type": "boolean"}, "name": {"type": "string"}, "platform": {"type": "string"},
		"shadowed_by": {"type": "string"}, "errors": {"type": "array"}, "errors_omitted": {"type": "integer"},
		"warnings": {"type": "array"}}}}}}`

	historyRows = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"time": {"type": "string", "format": "date-time", "title": "time"}, "caller": {"type": "string", "title": "caller"},
		"app": {"type": "string", "title": "app"}, "tool": {"type": "string", "title": "tool"},
		"on": {"type": "object", "title": "on"}, "effect": {"type": "string", "title": "effect"}, "result": {"type": "string", "title": "result"},
		"ms": {"type": "number", "title": "ms"}, "consent": {"type": "string", "title": "consent"},
		"call": {"type": "string", "title": "call"}, "message": {"type": "string", "title": "message"},
		"parent": {"type": "string"}, "door": {"type": "string"}, "identity": {"type": "string"}, "target": {"type": "string"}, "args": {}, "answer": {},
		"count": {"type": "integer"}, "codes": {"type": "object"}, "until": {"type": "string", "format": "date-time"}}}}`

	consentRows = `{"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"decision": {"type": "string", "title": "decision"}, "caller": {"type": "string", "title": "caller"},
		"app": {"type": "string", "title": "app"}, "tool": {"type": "string", "title": "tool"},
		"granted_at": {"type": "string", "format": "date-time", "title": "since"},
		"expires_at": {"type": "string", "format": "date-time", "title": "expires"},
		"source": {"type": "string", "enum": ["stored", "preapproved", "plain file"], "title": "source"},
		"identity": {"type": "string", "title": "identity"}, "channel": {"type": "string"}, "digest": {"type": "string"}, "by_name": {"type": "boolean"}, "takeover": {"type": "string"}}}}`

	loginRows = `{"type": "object", "properties": {"logins": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"state": {"type": "string", "title": "state"}, "host": {"type": "string", "title": "host"},
		"app": {"type": "string", "title": "app"}, "kind": {"type": "string", "title": "kind"},
		"scopes": {"type": "array", "items": {"type": "string"}, "title": "scopes"},
		"expires": {"type": "string", "format": "date-time", "title": "expires"}, "renews": {"type": "boolean"},
		"issuer": {"type": "string"}, "client": {"type": "string"}}}}}}`

	integrationRows = `{"type": "object", "properties": {"ways": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string", "title": "app"}, "kind": {"type": "string", "title": "way"},
		"state": {"type": "string", "title": "state"}, "covered": {"type": "string", "title": "has tools as"},
		"gains": {"type": "string"}, "get": {"type": "string"},
		"id": {"type": "string"}, "where": {"type": "array", "items": {"type": "string"}},
		"variables": {"type": "array", "items": {"type": "string"}}, "new": {"type": "boolean"}, "changed": {"type": "boolean"},
		"bus": {"type": "string"}, "closed": {"type": "boolean"}}}}}}`

	placeRows = `{"type": "object", "properties": {"places": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"state": {"type": "string", "title": "state"}, "title": {"type": "string", "title": "place of the key"},
		"detail": {"type": "string", "title": "why"}, "name": {"type": "string"}}}}}}`
)

// setReturnSchemas sets the return schemas of the tools. Results are not validated against them,
// because this package creates them.
func setReturnSchemas(app *aai.App) {
	for name, returns := range map[string]string{
		Apps: appRows, Scan: scanRows, History: historyRows, Story: storySchema, Stats: statsRows, Totals: totalsRows, ListConsents: consentRows, LoginStatus: loginRows, Keychain: placeRows, Discover: integrationRows,
	} {
		if tool := app.Tool(name); tool != nil {
			tool.Returns = aai.Schema{Source: json.RawMessage(returns)}
		}
	}
}
