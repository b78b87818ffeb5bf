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

	"github.com/google/go-cmp/cmp"

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
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestShop checks that each operation of a real server's document is a tool that works on the
// server, or is skipped with a reason.
func TestShop(t *testing.T) {
	kept := shop.NewShop()
	server := httptest.NewServer(kept)
	defer server.Close()
	got := read(t, shop.OpenAPIDocument(), importers.OpenAPIOptions{Source: "shop.yaml", Address: server.URL + "/openapi.yaml", Driver: driver()})
	if got.Operations != 9 || len(got.Skipped) != 0 {
		t.Errorf("of %d operations left out: %+v", got.Operations, got.Skipped)
	}
	app := loadDocument(t, got.Text)
	call := func(tool string, args map[string]any) any {
		t.Helper()
		checked, err := app.Tool(tool).Params.Check(args)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		result, err := app.Tool(tool).Run(t.Context(), &aai.Call{Args: checked.(map[string]any)})
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if result.Warning != "" {
			t.Errorf("%s: %s", tool, result.Warning)
		}
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
		if diff := cmp.Diff(c.want, ids(call("listOrders", c.args))); diff != "" {
			t.Errorf("orders of %v (-want +got):\n%s", c.args, diff)
		}
	}
	line := map[string]any{"article": "Mug", "pieces": 2, "cents": 800}
	call("createOrder", map[string]any{"customer": "Alan", "lines": []any{line}, "X-Request-Id": "r-1"})
	call("importOrders", map[string]any{"body": []any{map[string]any{"customer": "Edsger", "lines": []any{line}}}})
	call("noteOrder", map[string]any{"order-id": 4, "note": "gift"})
	call("refundOrder", map[string]any{"order-id": 2, "cents": 500, "reasons": []any{"a b", "c&d"}})
	call("dropOrder", map[string]any{"order-id": 1})
	orders := kept.Orders()
	if len(orders) != 4 || orders[2].Request != "r-1" || *orders[2].Note != "gift" || orders[0].Refunded != 500 || orders[3].Customer != "Edsger" {
		t.Errorf("the shop has %+v", orders)
	}
	if diff := cmp.Diff([]string{"a b", "c&d"}, orders[0].Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	report := call("report", map[string]any{"period": []any{"2026-01", "2026-02"}, "currency": "USD", "by": []any{"status", "customer"}})
	want := map[string]any{
		"months": []any{"2026-01", "2026-02"}, "currency": "USD", "orders": json.Number("4"), "cents": json.Number("58700"),
		"by": map[string]any{"refunded": json.Number("54000"), "paid": json.Number("1500"), "open": json.Number("3200"), "Grace": json.Number("54000"), "Ada": json.Number("1500"), "Alan": json.Number("1600"), "Edsger": json.Number("1600")},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	for tool, effect := range map[string]aai.Effect{
		"listOrders": aai.Reads, "createOrder": aai.Changes, "noteOrder": aai.Changes, "importOrders": aai.Changes,
		"refundOrder": aai.Destroys, "dropOrder": aai.Destroys, "report": aai.Reads,
	} {
		if app.Tool(tool).Effect != effect {
			t.Errorf("%s is said to be %s, want %s", tool, app.Tool(tool).Effect, effect)
		}
	}
}

// loadDocument parses a descriptor as the catalog does, and runs lint.
func loadDocument(t testing.TB, text []byte) *aai.App {
	t.Helper()
	d, err := catalog.Parse(text, catalog.Options{HostPlatform: "linux", Drivers: map[string]aai.Driver{"http": driver()}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range d.App.Tools {
		if tool.Run == nil {
			t.Errorf("%s cannot be run: %v", tool.Name, tool.Implementation.Unavailable)
		}
	}
	for _, f := range lint.Check(text, catalog.Options{}).Findings {
		if f.Severity == answer.SeverityError {
			t.Errorf("lint: %+v", f)
		}
	}
	return d.App
}

// TestGolden checks that the shop's descriptor is unchanged.
func TestGolden(t *testing.T) {
	got := read(t, shop.OpenAPIDocument(), importers.OpenAPIOptions{Source: "https://shop.example.com/openapi.yaml", Address: "https://shop.example.com/openapi.yaml", Driver: driver()})
	file := filepath.Join("testdata", "shop.json")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got.Text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got.Text)); diff != "" {
		t.Errorf("the descriptor (-want +got):\n%s", diff)
	}
}

// decoded decodes JSON like arguments.
func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var args map[string]any
	if err := d.Decode(&args); err != nil {
		t.Fatal(err)
	}
	return args
}
