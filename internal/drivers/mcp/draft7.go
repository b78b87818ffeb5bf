package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// toDraft7 is a schema of a later draft as one of draft-07, by which values are checked here: it
// says nothing of its draft, and its "$defs" are "definitions". What else later drafts have
// is not looked at; the server checks what it is sent by all of it.
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
	return source // not JSON; who reads it says so
}
