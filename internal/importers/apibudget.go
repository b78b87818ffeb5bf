package importers

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// Limits on a document, far above the size of the large public APIs.
const (
	maxBytes      = 24 << 20
	maxValues     = 800_000
	maxDepth      = 100
	maxOperations = 20_000
)

type node = jsontree.Node[struct{}]

// readJSONDocument returns the document as JSON. It enforces the limits and rejects external references.
func readJSONDocument(source []byte) ([]byte, error) {
	if len(source) > maxBytes {
		e := documentError("the document", fmt.Sprintf("has %d bytes or more", len(source)),
			fmt.Sprintf("at most %d", maxBytes))
		e.Hint = "Cut it down to the paths that you want."
		return nil, e
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf")))
	if len(text) == 0 {
		return nil, documentError("the document", "is empty", "an OpenAPI document in JSON or YAML")
	}
	if text[0] != '{' {
		var err error
		if text, err = fromYAML(text); err != nil {
			return nil, err
		}
	}
	root, fault := new(jsontree.Reader[struct{}]).Read(text, jsontree.Options[struct{}]{
		MaxBytes: 2 * maxBytes, MaxValues: maxValues, MaxDepth: maxDepth, MaxDigits: 400,
	})
	if fault != nil {
		return nil, unreadable(fault)
	}
	if err := kindOf(root); err != nil {
		return nil, err
	}
	if err := references(root, false); err != nil {
		return nil, err
	}
	if n := count(root.Member("paths")); n > maxOperations {
		e := documentError("paths", fmt.Sprintf("has %d operations", n), fmt.Sprintf("at most %d", maxOperations))
		e.Hint = "Cut it down to the paths that you want."
		return nil, e
	}
	return text, nil
}

func unreadable(fault *jsontree.Fault) error {
	switch fault.Problem {
	case jsontree.TooManyValues:
		return documentError("the document", fmt.Sprintf("has more than %d values", maxValues), "fewer")
	case jsontree.TooDeep:
		return documentError("the document", fmt.Sprintf("is nested more than %d deep", maxDepth), "less")
	case jsontree.TooManyBytes:
		return documentError("the document", "is too long", fmt.Sprintf("at most %d bytes", maxBytes))
	}
	problem := "is no JSON"
	switch fault.Problem {
	case jsontree.DuplicateName:
		problem = "has " + quotedField(fault.Name) + " twice at " + quotedField(fault.Path)
	case jsontree.NumberTooLong:
		problem = "has a number that is too long at " + quotedField(fault.Path)
	default:
		if fault.Reason != "" {
			problem += ": " + aai.CleanText(fault.Reason, maxPlace)
		}
	}
	return documentError("the document", problem+fault.Position(), "an OpenAPI document in JSON or YAML")
}

// kindOf returns an error unless the document's version is supported.
func kindOf(root *node) error {
	if root.Kind != jsontree.Object {
		return documentError("the document", "is "+root.KindName(), "an object with \"openapi\" and \"paths\"")
	}
	version := root.Member("openapi")
	switch {
	case root.Member("swagger") != nil:
		e := documentError("swagger", "is of OpenAPI 2.0", "openapi 3.0 or 3.1")
		e.Hint = "Have it converted, for example by swagger2openapi, and import that."
		return e
	case version == nil:
		return documentError("openapi", "missing", `a version such as "3.1.0"`)
	case version.Kind != jsontree.Text ||
		!strings.HasPrefix(version.Text, "3.0") && !strings.HasPrefix(version.Text, "3.1"):
		return documentError("openapi", "is "+fmt.Sprintf("%q", aai.CleanLabel(version.Text, 20)), `"3.0.x" or "3.1.x"`)
	case root.Member("paths") == nil || root.Member("paths").Kind != jsontree.Object:
		return documentError("paths", "missing or no object", "the paths of the API")
	}
	return nil
}

// references rejects references that lead out of the document. Examples and values are data.
// named means that the members are names chosen by the author.
func references(n *node, named bool) error {
	for c := range n.Items() {
		if c.Name == "$ref" && !named && c.Kind == jsontree.Text && !strings.HasPrefix(c.Text, "#") {
			e := documentError(c.Path(), fmt.Sprintf("leads out of the document, to %q", aai.CleanLabel(c.Text, 100)),
				`a reference within it, such as "#/components/schemas/Order"`)
			e.Hint = "Nothing else is opened or fetched for an import. Have the document bundled, for example by redocly " +
				"bundle, and import that."
			return e
		}
		if !named && (c.Name == "example" || c.Name == "examples" || c.Name == "default" || c.Name == "enum" ||
			c.Name == "const") {
			continue
		}
		if c.Kind != jsontree.Object && c.Kind != jsontree.List {
			continue
		}
		if err := references(c, !named &&
			(c.Name == "properties" || c.Name == "schemas" || c.Name == "patternProperties" || c.Name == "$defs")); err != nil {
			return err
		}
	}
	return nil
}

// count returns the number of operations in "paths".
func count(paths *node) int {
	n := 0
	for path := range paths.Items() {
		for member := range path.Items() {
			if _, is := methods()[member.Name]; is {
				n++
			}
		}
	}
	return n
}

// loadDocument parses a document within the limits. It disables external references and recovers
// from panics of the library.
func loadDocument(text []byte) (api *openapi3.T, err error) {
	defer func() {
		if r := recover(); r != nil {
			api, err = nil, documentError("the document", "cannot be read", "an OpenAPI document of version 3.0 or 3.1")
		}
	}()
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = false
	api, err = loader.LoadFromData(text)
	if err != nil {
		return nil,
			aai.Errorf(aai.InvalidParams, "the document: %s; expected an OpenAPI document of version 3.0 or 3.1",
				aai.CleanText(err.Error(), 300))
	}
	if api.Paths == nil {
		return nil, documentError("paths", "missing", "the paths of the API")
	}
	return api, nil
}
