package importers

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
)

// OpenAPIOptions are the options of ReadOpenAPI. The document provides the defaults.
type OpenAPIOptions struct {
	// Source is the origin of the document, for people.
	Source string
	// Address is the absolute URL of the document; empty for a file. Server URLs may be relative
	// to it.
	Address string
	// ID and Server are the app's id and its base URL.
	ID, Server string
	// Login is the name of the security scheme to use.
	Login string
	// Groups limits the operations to these tags; empty: all.
	Groups []string
	// IsDestructive reports whether words, such as "delete order", suggest irreversible effects;
	// may be nil.
	IsDestructive func(words string) bool
	// Driver decides which operations become tools: those that it compiles; nil: all.
	Driver aai.Driver
}

// ImportedAPI is an API converted to an app.
type ImportedAPI struct {
	Document *catalog.Document
	// Text is Document in the form of an aai.json.
	Text []byte
	// Operations is the number of operations in the requested groups.
	Operations int
	Groups     []answer.APIGroup         // in the order of the tools
	Skipped    []answer.SkippedOperation // operations without a tool
	Notes      []string
}

// ReadOpenAPI converts an OpenAPI document in JSON or YAML, version 2.0 or 3, to an app. The
// error is an *aai.Error with code INVALID_PARAMS that names the place, the problem and the
// expected value.
func ReadOpenAPI(source []byte, o OpenAPIOptions) (*ImportedAPI, error) {
	if err := otherDocument(source); err != nil {
		return nil, err
	}
	root, isYAML, err := readJSONDocument(source)
	if err != nil {
		return nil, err
	}
	document, repaired := repair(root, isYAML)
	api, err := loadDocument(document)
	if err != nil {
		return nil, err
	}
	m := &apiConverter{api: api, options: o, broken: repaired.broken, names: make(map[string]bool),
		result: &ImportedAPI{Notes: repaired.faults}}
	m.doc = &catalog.Document{
		Generated: &catalog.Generated{From: OpenAPISourcePrefix + aai.CleanLabel(withoutKeys(o.Source), maxFrom),
			Digest: DocumentDigest(source)},
	}
	if err := m.make(); err != nil {
		return nil, err
	}
	m.result.Document = m.doc
	if m.result.Text, err = m.doc.Marshal(); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "no descriptor can be made of it: %w", err)
	}
	return m.result, nil
}

// OpenAPISourcePrefix begins catalog.Generated.From in descriptors made from an OpenAPI document.
const OpenAPISourcePrefix = "openapi:"

// DocumentDigest returns the SHA-256 of an OpenAPI document in hexadecimal, as in catalog.Generated.Digest.
func DocumentDigest(source []byte) string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}

// An apiConverter converts one API.
type apiConverter struct {
	api     *openapi3.T
	options OpenAPIOptions
	doc     *catalog.Document
	section catalog.Section
	login   apiLogins
	broken  map[string]string // operations that cannot be read, as in repairer
	names   map[string]bool   // of tools
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
	m.section.Auth = m.login.able[m.login.main]
	for _, op := range operations {
		if why := m.add(op); why != "" {
			m.result.Skipped = append(m.result.Skipped, answer.SkippedOperation{Operation: op.words(), Reason: why})
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
	m.section.Logins = m.login.further
	m.noteAccess()
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
			m.result.Groups = append(m.result.Groups, answer.APIGroup{Name: tool.Group})
		}
		m.result.Groups[i].Tools++
	}
}

func (m *apiConverter) note(words string) { m.result.Notes = append(m.result.Notes, words) }

// documentError reports a problem at a place of the document.
func documentError(place, problem, expected string) *aai.Error {
	return aai.Errorf(aai.InvalidParams, "%s: %s; expected %s", aai.CleanLabel(place, maxPlace), problem, expected)
}

const (
	maxFrom  = 200
	maxPlace = 200
)
