package importers

import (
	"bytes"
	"regexp"

	"github.com/gybob/aai-gateway"
)

// maxHead limits the beginning of a document by which its kind is recognized, in bytes.
const maxHead = 4 << 10

// otherDocument returns an error if the text is a document of another kind that people take for an
// OpenAPI document, such as the page that shows one.
func otherDocument(source []byte) error {
	head := bytes.ToLower(bytes.TrimSpace(source[:min(len(source), maxHead)]))
	for _, other := range []struct{ form, kind, hint string }{
		{`^(<!doctype html|<html)`, "is an HTML page", "Give the address of the document itself: pages such as Swagger UI name it, often openapi.json."},
		{`^<`, "is XML", "Export the API as OpenAPI; WSDL and WADL are not read."},
		{`^version https://git-lfs`, "is a pointer of Git LFS and not the file", "Fetch the file itself, such as by git lfs pull."},
		{`^pk\x03\x04|^\x1f\x8b`, "is an archive", "Unpack it, and give the document in it."},
		{`getpostman\.com/json/collection|"_postman_id"`, "is a Postman collection", "Convert it to OpenAPI; Postman exports APIs in that form."},
		{`^\{?\s*"?asyncapi"?\s*:`, "is an AsyncAPI document", "It describes messages; only APIs over HTTP become apps."},
	} {
		if regexp.MustCompile(other.form).Match(head) {
			e := documentError("the document", other.kind, "an OpenAPI document in JSON or YAML")
			e.Hint = other.hint
			return e
		}
	}
	return nil
}

// addTabHint says that a tab indents a line, which YAML does not allow.
func addTabHint(e *aai.Error, source []byte) *aai.Error {
	if bytes.Contains(source, []byte("\n\t")) {
		e.Message += "; a tab indents a line"
		e.Hint = "Indent by blanks."
	}
	return e
}
