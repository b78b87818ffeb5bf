package importers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
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

// readJSONDocument reads a document in JSON or YAML within the limits.
func readJSONDocument(source []byte) (root *node, isYAML bool, err error) {
	if len(source) > maxBytes {
		e := documentError("the document", fmt.Sprintf("has %d bytes or more", len(source)),
			fmt.Sprintf("at most %d", maxBytes))
		e.Hint = "Cut it down to the paths that you want."
		return nil, false, e
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf")))
	if len(text) == 0 {
		return nil, false, documentError("the document", "is empty", "an OpenAPI document in JSON or YAML")
	}
	if isYAML = text[0] != '{'; isYAML {
		if text, err = fromYAML(text); err != nil {
			return nil, false, err
		}
	}
	var fault *jsontree.Fault
	root, fault = new(jsontree.Reader[struct{}]).Read(text, jsontree.Options[struct{}]{
		MaxBytes: 2 * maxBytes, MaxValues: maxValues, MaxDepth: maxDepth, MaxDigits: 400,
	})
	if fault != nil {
		return nil, false, unreadable(fault)
	}
	if err := kindOf(root); err != nil {
		return nil, false, err
	}
	if n := count(root.Member("paths")); n > maxOperations {
		e := documentError("paths", fmt.Sprintf("has %d operations", n), fmt.Sprintf("at most %d", maxOperations))
		e.Hint = "Cut it down to the paths that you want."
		return nil, false, e
	}
	return root, isYAML, nil
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
	if isSwagger(root) {
		version = root.Member("swagger")
	}
	switch {
	case version == nil:
		return documentError("openapi", "missing", `a version such as "3.1.0"`)
	case version.Kind != jsontree.Text && version.Kind != jsontree.Number,
		!strings.HasPrefix(version.Text, "3") && (!isSwagger(root) || !strings.HasPrefix(version.Text, "2")):
		return documentError(version.Name, "is "+quotedField(cmp.Or(version.Text, version.KindName()))+fmt.Sprintf(" (line %d)", version.Line()),
			`"3.0", "3.1" or "3.2", or "swagger" with "2.0"`)
	case root.Member("paths") == nil || root.Member("paths").Kind != jsontree.Object:
		return documentError("paths", "missing or no object", "the paths of the API")
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

// loadDocument parses the repaired document. It disables external references and recovers from
// panics of the library.
func loadDocument(document map[string]any) (api *openapi3.T, err error) {
	problem := documentError("the document", "cannot be read", "an OpenAPI document of version 2.0 or 3")
	defer func() {
		if r := recover(); r != nil {
			api, err = nil, problem
		}
	}()
	text, err := json.Marshal(document)
	if err != nil {
		return nil, problem
	}
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = false
	if document["swagger"] == nil {
		api, err = loader.LoadFromData(text)
	} else {
		var old openapi2.T
		if err = json.Unmarshal(text, &old); err == nil {
			api, err = openapi2conv.ToV3WithLoader(&old, loader, nil)
		}
	}
	if err != nil {
		problem.Message += "; the reader reports: " + aai.CleanText(err.Error(), 300)
		return nil, problem
	}
	if api.Paths == nil {
		return nil, documentError("paths", "missing", "the paths of the API")
	}
	return api, nil
}
