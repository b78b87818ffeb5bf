package webapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

const benchAnswer = `{"id": "7", "title": "A thing", "tags": ["a", "b", "c"], "size": 12345}`

// BenchmarkCall measures a call of a tool, and the same request by Go's own client.
func BenchmarkCall(b *testing.B) {
	s := httptest.NewServer(answers(http.StatusOK, "application/json", benchAnswer))
	b.Cleanup(s.Close)
	client := plainClient(b)
	b.Run("Bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Get(s.URL + "/things/7?v=hello")
			assert.NilError(b, err)
			_, _ = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
	})
	b.Run("Tool", func(b *testing.B) {
		action := compile(b, New(fast(client)), recipe(s.URL, http.MethodGet, "/things/{id}", "id", "v"))
		call := &aai.Call{Args: map[string]any{"id": "7", "v": "hello"}}
		b.ReportAllocs()
		for b.Loop() {
			_, err := action(b.Context(), call)
			assert.NilError(b, err)
		}
	})
}
