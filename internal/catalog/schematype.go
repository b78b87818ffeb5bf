package catalog

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"aai"
)

// schemaType reports whether a schema may describe an object: its "type" is
// absent or "object". Otherwise it returns the type as written. It reads no
// further than the type, which most authors write first.
func schemaType(raw []byte) (written string, ok bool) {
	if beginsAsObject(raw) {
		return "", true
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if _, err := d.ReadToken(); err != nil {
		return "", true // somebody else has found it to be no JSON
	}
	for d.PeekKind() == text {
		name, err := d.ReadToken()
		if err != nil {
			return "", true
		}
		if name.String() != "type" {
			if d.SkipValue() != nil {
				return "", true
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return "", true
		}
		return aai.CleanLabel(string(value), maxName), string(value) == `"object"`
	}
	return "", true
}

// beginsAsObject reports whether a schema's first words are {"type": "object",
// as of nearly all. Names are unique, so no other type can follow.
func beginsAsObject(raw []byte) bool {
	for _, token := range []string{"{", `"type"`, ":", `"object"`} {
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte(token))
		if !ok {
			return false
		}
		raw = rest
	}
	return true
}
