// Package openapi makes an app of what an API says of itself: of an OpenAPI document, 3.0 or
// 3.1, a [catalog.Document] whose tools are its operations.
//
// The document is a stranger's. It is held against a budget before a library reads it
// (budget.go): size, depth, values, operations, and references, which may lead nowhere but
// into the document itself. What is made of it is no more than an ordinary descriptor, which
// the catalog reads and the driver for HTTP runs: an operation that these cannot do is left
// out, and said so with its reason. Nothing is left out in silence.
//
// The room gets bytes and gives a document: it opens no files, knows no network, and asks
// nobody.
package importers

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
)

// OpenAPIOptions say how an API is made an app. What is empty the document says.
type OpenAPIOptions struct {
	// Source is where the document came from, for people.
	Source string
	// Address is the absolute address that it was fetched from; empty for a file. Servers
	// may be told relative to it.
	Address string
	// ID and Server are the app's id and its base URL.
	ID, Server string
	// Login is which of the document's security schemes is used.
	Login string
	// Groups are the only tags whose operations are taken; none: all are.
	Groups []string
	// IsDestructive reports whether words, such as "delete order", speak of what cannot be brought
	// back. Nil: none do.
	IsDestructive func(words string) bool
	// Driver says which operations can be run. Nil: nobody does, and all are taken.
	Driver aai.Driver
}

// An Import is an API as an app.
type ImportedAPI struct {
	Document *catalog.Document
	// Text is the document as a descriptor.
	Text []byte
	// Operations is how many the API has, of the groups that were asked for.
	Operations int
	Groups     []APIGroup         // in the order of the tools
	Skipped    []SkippedOperation // operations that are not among the tools
	Notes      []string
}

// A Group is a part of the API.
type APIGroup struct {
	Name  string `json:"group"`
	Tools int    `json:"tools"`
}

// A Left is an operation that was left out.
type SkippedOperation struct {
	Operation string `json:"operation"` // such as "POST /files"
	Reason    string `json:"why"`
}

// ReadOpenAPI makes an app of an OpenAPI document in JSON or YAML. The error is an *aai.Error with
// code INVALID_PARAMS that names the place in the document, what is wrong and what was
// expected.
func ReadOpenAPI(source []byte, o OpenAPIOptions) (*ImportedAPI, error) {
	text, err := readJSONDocument(source)
	if err != nil {
		return nil, err
	}
	api, err := loadDocument(text)
	if err != nil {
		return nil, err
	}
	m := &apiConverter{api: api, options: o, names: make(map[string]bool), result: &ImportedAPI{}}
	m.doc = &catalog.Document{Generated: &catalog.Generated{From: OpenAPISourcePrefix + aai.CleanLabel(o.Source, maxFrom), Digest: DocumentDigest(source)}}
	if err := m.make(); err != nil {
		return nil, err
	}
	m.result.Document = m.doc
	if m.result.Text, err = m.doc.Marshal(); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "no descriptor can be made of it: %w", err)
	}
	return m.result, nil
}

// OpenAPISourcePrefix begins what a descriptor says of its source that was made of a document.
const OpenAPISourcePrefix = "openapi:"

// DocumentDigest names a document as it is.
func DocumentDigest(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// A maker makes one app.
type apiConverter struct {
	api     *openapi3.T
	options OpenAPIOptions
	doc     *catalog.Document
	section catalog.Section
	login   chosenLogin
	names   map[string]bool // of tools
	result  *ImportedAPI
}

func (m *apiConverter) make() error {
	base, err := m.server()
	if err != nil {
		return err
	}
	m.section = catalog.Section{Platform: "web", Automation: "http", AppAddress: catalog.AppAddress{BaseURL: base}}
	if err := m.identity(base); err != nil {
		return err
	}
	operations, err := m.operations()
	if err != nil {
		return err
	}
	if err := m.chooseLogin(operations); err != nil {
		return err
	}
	m.section.Auth = m.login.auth
	for _, op := range operations {
		if why := m.add(op); why != "" {
			m.result.Skipped = append(m.result.Skipped, SkippedOperation{Operation: op.words(), Reason: why})
		}
	}
	m.result.Operations = len(operations)
	if len(m.section.Tools) == 0 {
		e := documentError("paths", "has no operation that can be a tool", "one at least")
		if len(m.result.Skipped) > 0 {
			e.Message += "; " + m.result.Skipped[0].Operation + " is left out because " + m.result.Skipped[0].Reason
		}
		return e
	}
	m.countGroups()
	m.doc.Sections = []catalog.Section{m.section}
	return nil
}

func (m *apiConverter) countGroups() {
	at := make(map[string]int)
	for _, tool := range m.section.Tools {
		i, known := at[tool.Group]
		if !known {
			i = len(m.result.Groups)
			at[tool.Group] = i
			m.result.Groups = append(m.result.Groups, APIGroup{Name: tool.Group})
		}
		m.result.Groups[i].Tools++
	}
}

func (m *apiConverter) note(words string) { m.result.Notes = append(m.result.Notes, words) }

// documentError says what is wrong at a place of the document.
func documentError(place, problem, expected string) *aai.Error {
	return aai.Errorf(aai.InvalidParams, "%s: %s; expected %s", aai.CleanLabel(place, maxPlace), problem, expected)
}

const (
	maxFrom  = 200
	maxPlace = 200
)
