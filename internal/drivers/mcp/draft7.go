package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// toDraft7 converts a schema of a later draft to draft-07, which the gateway checks values by: it
// removes "$schema" and renames "$defs" to "definitions". The gateway ignores other features of
// later drafts; the server checks its arguments itself.
func toDraft7(source json.RawMessage) json.RawMessage {
	if !bytes.Contains(source, []byte(`"$schema"`)) && !bytes.Contains(source, []byte(`"$defs"`)) {
		return source
	}
	var out bytes.Buffer
	from, to := jsontext.NewDecoder(bytes.NewReader(source)), jsontext.NewEncoder(&out)
	name := ""
	for {
		isName := false
		if kind, length := from.StackIndex(from.StackDepth()); from.StackDepth() > 0 {
			isName = kind == '{' && length%2 == 0
		}
		token, err := from.ReadToken()
		if err != nil {
			break
		}
		switch depth := from.StackDepth(); {
		case isName && token.Kind() == '"':
			name = token.String()
			if depth == 1 && name == "$schema" {
				if from.SkipValue() != nil {
					return source
				}
				continue
			}
			if depth == 1 && name == "$defs" {
				token = jsontext.String("definitions")
			}
		case token.Kind() == '"' && name == "$ref" && strings.HasPrefix(token.String(), "#/$defs/"):
			token = jsontext.String("#/definitions/" + strings.TrimPrefix(token.String(), "#/$defs/"))
		}
		if to.WriteToken(token) != nil {
			return source
		}
	}
	if json.Valid(out.Bytes()) {
		return bytes.TrimSpace(out.Bytes())
	}
	return source // not JSON; the reader reports it
}
