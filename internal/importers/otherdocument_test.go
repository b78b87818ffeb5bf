package importers_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/importers"
)

// TestOtherDocuments checks that documents of other kinds are named, with the next step.
func TestOtherDocuments(t *testing.T) {
	for source, want := range map[string]string{
		"\n<!DOCTYPE html><html><body></body></html>":                        "is an HTML page",
		"<?xml version=\"1.0\"?><definitions/>":                              "is XML",
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n": "Git LFS",
		"PK\x03\x04rest": "is an archive",
		`{"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"}, "item": []}`: "is a Postman collection",
		"asyncapi: 3.0.0\ninfo: {title: T, version: '1'}\n":                                                        "is an AsyncAPI document",
		"openapi: 3.0.0\npaths:\n\t/a: {}\n":                                                                       "a tab indents a line",
	} {
		_, err := importers.ReadOpenAPI([]byte(source), importers.OpenAPIOptions{})
		assert.Check(t, is.ErrorContains(err, want), "%q", source)
	}
}
