package importers_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/bench/shop"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
	"github.com/gybob/aai-gateway/internal/drivers/webapi"
	"github.com/gybob/aai-gateway/internal/importers"
)

// driver runs HTTP tools with the shop's key.
func driver() aai.Driver {
	return webapi.New(webapi.Config{Client: http.DefaultClient, Authorizer: keyAuthorizer{}, Rate: 1e6, Burst: 1e6})
}

// keyAuthorizer is a person who gave the shop's key.
type keyAuthorizer struct{}

func (keyAuthorizer) Authorize(_ context.Context, r *aai.Recipe, req *http.Request) error {
	req.Header.Set(r.HTTP.Auth.Name, r.HTTP.Auth.Prefix+shop.APIKey)
	return nil
}

func (keyAuthorizer) HandleRefusal(context.Context, *aai.Recipe, *http.Response) (bool, error) {
	return false, nil
}

// read imports a valid document.
func read(t testing.TB, source []byte, o importers.OpenAPIOptions) *importers.ImportedAPI {
	t.Helper()
	got, err := importers.ReadOpenAPI(source, o)
	assert.NilError(t, err)
	return got
}

// TestShop checks that each operation of a real server's document is a tool that works on the
// server, or is skipped with a reason.
func TestShop(t *testing.T) {
	kept := shop.NewShop()
	server := httptest.NewServer(kept)
	defer server.Close()
	got := read(t, shop.OpenAPIDocument(), importers.OpenAPIOptions{Source: "shop.yaml", Address: server.URL + "/openapi.yaml", Driver: driver()})
	assert.Check(t, is.Equal(got.Operations, 9))
	assert.Check(t, is.Len(got.Skipped, 0))
	app := loadDocument(t, got.Text)
	call := func(tool string, args map[string]any) any {
		t.Helper()
		checked, err := app.Tool(tool).Params.Check(args)
		assert.NilError(t, err, tool)
		result, err := app.Tool(tool).Run(t.Context(), &aai.Call{Args: checked.(map[string]any)})
		assert.NilError(t, err, tool)
		assert.Check(t, is.Equal(result.Warning, ""), tool)
		return result.Data
	}
	ids := func(v any) (ids []string) {
		for _, o := range v.([]any) {
			ids = append(ids, o.(map[string]any)["id"].(json.Number).String())
		}
		return ids
	}
	for _, c := range []struct {
		args map[string]any
		want []string
	}{
		{nil, []string{"3", "2", "1"}},
		{map[string]any{"limit": 1}, []string{"3"}},
		{map[string]any{"filter": map[string]any{"status": "paid", "customer": "Ada"}}, []string{"3", "1"}},
		{map[string]any{"ids": []any{1, 2}}, []string{"2", "1"}},
	} {
		assert.Check(t, is.DeepEqual(c.want, ids(call("listOrders", c.args))), "%v", c.args)
	}
	line := map[string]any{"article": "Mug", "pieces": 2, "cents": 800}
	call("createOrder", map[string]any{"customer": "Alan", "lines": []any{line}, "X-Request-Id": "r-1"})
	call("importOrders", map[string]any{"body": []any{map[string]any{"customer": "Edsger", "lines": []any{line}}}})
	call("noteOrder", map[string]any{"order-id": 4, "note": "gift"})
	call("refundOrder", map[string]any{"order-id": 2, "cents": 500, "reasons": []any{"a b", "c&d"}})
	call("dropOrder", map[string]any{"order-id": 1})
	orders := kept.Orders()
	assert.Assert(t, is.Len(orders, 4))
	assert.Equal(t, orders[2].Request, "r-1")
	assert.Equal(t, *orders[2].Note, "gift")
	assert.Equal(t, orders[0].Refunded, 500)
	assert.Equal(t, orders[3].Customer, "Edsger")
	assert.Check(t, is.DeepEqual([]string{"a b", "c&d"}, orders[0].Reasons))
	report := call("report", map[string]any{"period": []any{"2026-01", "2026-02"}, "currency": "USD", "by": []any{"status", "customer"}})
	want := map[string]any{
		"months": []any{"2026-01", "2026-02"}, "currency": "USD", "orders": json.Number("4"), "cents": json.Number("58700"),
		"by": map[string]any{"refunded": json.Number("54000"), "paid": json.Number("1500"), "open": json.Number("3200"), "Grace": json.Number("54000"), "Ada": json.Number("1500"), "Alan": json.Number("1600"), "Edsger": json.Number("1600")},
	}
	assert.Check(t, is.DeepEqual(want, report))
	for tool, effect := range map[string]aai.Effect{
		"listOrders": aai.Reads, "createOrder": aai.Changes, "noteOrder": aai.Changes, "importOrders": aai.Changes,
		"refundOrder": aai.Destroys, "dropOrder": aai.Destroys, "report": aai.Reads,
	} {
		assert.Check(t, is.Equal(app.Tool(tool).Effect, effect), "%s is said to be %s, want %s", tool, app.Tool(tool).Effect, effect)
	}
}

// loadDocument parses a descriptor as the catalog does, and runs lint.
func loadDocument(t testing.TB, text []byte) *aai.App {
	t.Helper()
	d, err := catalog.Parse(text, catalog.Options{HostPlatform: "linux", Drivers: map[string]aai.Driver{"http": driver()}})
	assert.NilError(t, err)
	for _, tool := range d.App.Tools {
		assert.Check(t, tool.Run != nil, "%s cannot be run: %v", tool.Name, tool.Implementation.Unavailable)
	}
	for _, f := range lint.Check(text, catalog.Options{}).Findings {
		assert.Check(t, f.Severity != answer.SeverityError, "lint: %+v", f)
	}
	return d.App
}

// TestGolden checks that the shop's descriptor is unchanged.
func TestGolden(t *testing.T) {
	got := read(t, shop.OpenAPIDocument(), importers.OpenAPIOptions{Source: "https://shop.example.com/openapi.yaml", Address: "https://shop.example.com/openapi.yaml", Driver: driver()})
	file := filepath.Join("testdata", "shop.json")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		assert.NilError(t, os.MkdirAll("testdata", 0o750))
		assert.NilError(t, os.WriteFile(file, got.Text, 0o600))
	}
	want, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(string(want), string(got.Text)))
}

// decoded decodes JSON like arguments.
func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var args map[string]any
	assert.NilError(t, d.Decode(&args))
	return args
}
