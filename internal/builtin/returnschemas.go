package builtin

import (
	"encoding/json"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// Return schemas of tools whose answers are no types of package answer. A property with a title is
// a column of the table for people, in this order.
const (
	scanRows = `{"type": "object", "properties": {"files": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"status": {"type": "string", "title": "status"}, "app": {"type": "string", "title": "app"},
		"tools": {"type": "integer", "title": "tools"}, "path": {"type": "string", "title": "file"},
		"place": {"type": "string", "title": "place"}, "not_started": {"type": "boolean"}, "name": {"type": "string"}, "platform": {"type": "string"},
		"shadowed_by": {"type": "string"}, "errors": {"type": "array"}, "errors_omitted": {"type": "integer"},
		"warnings": {"type": "array"}}}}}}`
)

// setReturnSchemas sets the return schemas of the tools. Results are not validated against them,
// because this package creates them.
func setReturnSchemas(app *aai.App) {
	for name, returns := range map[string]json.RawMessage{
		Apps: answer.SchemaOf[[]answer.App](), Scan: json.RawMessage(scanRows), History: answer.SchemaOf[[]answer.CallRecord](), Story: answer.SchemaOf[answer.Trace](),
		Stats: answer.SchemaOf[answer.Stats[answer.ToolStats]](), Totals: answer.SchemaOf[answer.Stats[answer.PeriodStats]](), ListConsents: answer.SchemaOf[[]answer.Consent](),
		LoginStatus: answer.SchemaOf[answer.LoginReport](), Keychain: answer.SchemaOf[answer.Keychain](), Discover: answer.SchemaOf[answer.IntegrationReport](),
	} {
		if tool := app.Tool(name); tool != nil {
			tool.Returns = aai.Schema{Source: returns}
		}
	}
}
