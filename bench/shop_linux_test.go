package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/bench/shop"
	"github.com/gybob/aai-gateway/internal/importers"
)

// shopTask is an agent's task in the shop of bench/shop by one route: it lists the orders, refunds
// 50 euros of the second, and makes a report. It counts the text that a model reads and writes.
type shopTask struct {
	shop        *shop.Shop
	calls       int
	list, words int // characters: of the tool list, of calls and results
	took        time.Duration
	last        string
}

// call makes one of the agent's calls, and returns its result.
func (d *shopTask) call(b *testing.B, s *session, tool string, args map[string]any) (string, error) {
	b.Helper()
	call := toolCall(b, tool, args)
	begun := time.Now()
	a, err := s.try("tools/call", call)
	d.took += time.Since(begun)
	if err != nil {
		return "", err
	}
	d.last = a.text(b)
	d.calls++
	d.words += len([]rune(call)) + len([]rune(d.last))
	return d.last, nil
}

// lists counts the tool list as a model sees it.
func (d *shopTask) lists(b *testing.B, s *session) {
	b.Helper()
	a := s.ask(b, "tools/list", `{}`)
	var listed struct {
		Result struct {
			Tools []struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
			}
		}
	}
	assert.NilError(b, json.Unmarshal(a.line, &listed))
	text, err := json.Marshal(listed.Result.Tools)
	assert.NilError(b, err)
	d.list = len([]rune(string(text)))
}

// isCorrect checks the shop's state after the task.
func (d *shopTask) isCorrect() error {
	for _, o := range d.shop.Orders() {
		if o.ID == 2 && o.Refunded == 5000 && strings.Join(o.Reasons, "") == "damaged" {
			if strings.Contains(d.last, "60400") || strings.Contains(d.last, "604.00 EUR") {
				return nil
			}
			return errors.New("the report says " + d.last)
		}
	}
	return fmt.Errorf("the shop has %+v", d.shop.Orders())
}

// shopRoute is one route to the shop.
type shopRoute struct {
	name string
	deal func(*testing.B, *shopTask) error
}

// compareShop does the same work in the same shop by five routes.
func (w *desktopBench) compareShop(b *testing.B) {
	var ours, theirs int
	for _, way := range []shopRoute{
		{"aai.json", w.shopByDescriptor}, {"imported OpenAPI", w.shopByOpenAPI}, {"MCP server behind us", w.shopByMCP},
		{"its window, desktop profile", w.shopByWindow}, {"playwright-mcp", w.shopByPlaywright},
	} {
		d := &shopTask{shop: shop.NewShop()}
		err := way.deal(b, d)
		if err == nil {
			err = d.isCorrect()
		}
		result := "done"
		if err != nil {
			result = "not done: " + firstLine(err)
			assert.Check(b, is.Equal(way.name, "playwright-mcp"), err)
		}
		all := d.list/4 + d.words/4
		switch way.name {
		case "its window, desktop profile":
			ours = d.words / 4
		case "playwright-mcp":
			theirs = d.words / 4
		}
		w.table.add("a shop by "+way.name, fmt.Sprintf("%d tokens in %d calls, %s", d.words/4, d.calls, millis(d.took)),
			fmt.Sprintf("the list of tools %d, in all %d", d.list/4, all), result)
	}
	w.table.judge("a shop by its window, tokens", strconv.Itoa(ours), "playwright-mcp "+strconv.Itoa(theirs), "", "≤ playwright's", theirs == 0 || ours <= theirs)
}

// openShop starts a gateway of the default profile with one app for the shop.
func (w *desktopBench) openShop(b *testing.B, d *shopTask, id, descriptor string, more ...string) *session {
	b.Helper()
	h := newHome(b, 0)
	h.install(b, id, descriptor)
	h.configure(b, noLimits+`, "login": {"env": ["SHOP_KEY"]}`, id)
	s := open(b, append(h.env("unix:path=/nowhere"), append(more, "SHOP_KEY="+shop.APIKey)...), w.program, fixedTools+1, "--dev")
	d.lists(b, s)
	return s
}

// exec calls a tool of the shop's app.
func (d *shopTask) exec(b *testing.B, s *session, id, tool string, args map[string]any) error {
	b.Helper()
	_, err := d.call(b, s, "aai_exec", map[string]any{"app": id, "tool": tool, "args": args})
	return err
}

// guided reads the app's guide, and then makes the calls.
func (d *shopTask) guided(b *testing.B, s *session, id string, steps ...map[string]any) error {
	b.Helper()
	if _, err := d.call(b, s, "app_"+strings.ReplaceAll(id, ".", "_"), map[string]any{}); err != nil {
		return err
	}
	for _, step := range steps {
		args, _ := step["args"].(map[string]any)
		if err := d.exec(b, s, id, step["tool"].(string), args); err != nil {
			return err
		}
	}
	return nil
}

const shopApp = "org.example.shop"

func (w *desktopBench) shopByDescriptor(b *testing.B, d *shopTask) error {
	site := httptest.NewServer(d.shop)
	b.Cleanup(site.Close)
	s := w.openShop(b, d, shopApp, fmt.Sprintf(`{"schema_version": "1.0", "version": "1.0.0", "platform": "web",
  "app": {"id": %q, "name": "Shop", "description": "Orders of a small shop."},
  "execution": {"type": "http", "base_url": %q}, "auth": {"type": "apiKey", "apiKey": {"location": "header", "name": "X-Shop-Key", "prefix": "", "env_var": "SHOP_KEY"}},
  "tools": [
    {"name": "orders", "description": "The orders, newest first", "effect": "reads", "method": "GET", "path": "/v1/orders", "parameters": {"type": "object", "properties": {}}},
    {"name": "refund", "description": "Pays a part of an order back", "effect": "changes", "method": "POST", "path": "/v1/orders/{order}/refund",
      "headers": {"Content-Type": "application/x-www-form-urlencoded"},
      "parameters": {"type": "object", "properties": {"order": {"type": "integer"}, "cents": {"type": "integer", "minimum": 1}, "reasons": {"type": "string"}}, "required": ["order", "cents", "reasons"]}},
    {"name": "report", "description": "What was sold in some months", "effect": "reads", "method": "GET", "path": "/v1/report/.{from}.{to}",
      "parameters": {"type": "object", "properties": {"from": {"type": "string", "description": "Such as 2026-01"}, "to": {"type": "string"}}, "required": ["from", "to"]}}]}`, shopApp, site.URL))
	return d.guided(b, s, shopApp,
		map[string]any{"tool": "orders"}, map[string]any{"tool": "refund", "args": map[string]any{"order": 2, "cents": 5000, "reasons": "damaged"}},
		map[string]any{"tool": "report", "args": map[string]any{"from": "2026-01", "to": "2026-02"}})
}

func (w *desktopBench) shopByOpenAPI(b *testing.B, d *shopTask) error {
	site := httptest.NewServer(d.shop)
	b.Cleanup(site.Close)
	made, err := importers.ReadOpenAPI(shop.OpenAPIDocument(), importers.OpenAPIOptions{Source: "openapi.yaml", ID: shopApp, Server: site.URL + "/v1"})
	if err != nil {
		return err
	}
	text := strings.Replace(string(made.Text), `"name": "X-Shop-Key",`, `"name": "X-Shop-Key", "env_var": "SHOP_KEY",`, 1)
	s := w.openShop(b, d, shopApp, text)
	return d.guided(b, s, shopApp,
		map[string]any{"tool": "listOrders"}, map[string]any{"tool": "refundOrder", "args": map[string]any{"order-id": 2, "cents": 5000, "reasons": []string{"damaged"}}},
		map[string]any{"tool": "report", "args": map[string]any{"period": []string{"2026-01", "2026-02"}}})
}

func (w *desktopBench) shopByMCP(b *testing.B, d *shopTask) error {
	site := httptest.NewServer(d.shop)
	b.Cleanup(site.Close)
	s := w.openShop(b, d, shopApp, fmt.Sprintf(`{"schema_version": "1.0", "platform": "linux",
  "app": {"id": %q, "name": "Shop", "description": "Orders of a small shop."},
  "execution": {"type": "mcp", "command": %q, "env": ["SHOP", "SHOP_KEY"]}}`, shopApp, build(b, "github.com/gybob/aai-gateway/bench/peers/shopmcp")), "SHOP="+site.URL)
	// A server's tools are unknown before its first start, so its guide is read twice.
	if err := d.guided(b, s, shopApp, map[string]any{"tool": "mcp_start"}); err != nil {
		return err
	}
	return d.guided(b, s, shopApp,
		map[string]any{"tool": "list_orders"}, map[string]any{"tool": "refund_order", "args": map[string]any{"order": 2, "cents": 5000, "reason": "damaged"}},
		map[string]any{"tool": "sales_report", "args": map[string]any{"from": "2026-01", "to": "2026-02"}})
}

// shopForms returns the values for the shop's page, form by form, and the button of each.
func shopForms() [][]string {
	return [][]string{{"Order number", "2", "Cents", "5000", "Reason", "damaged", "Refund"}, {"From month", "2026-01", "To month", "2026-02", "Make report"}}
}

// refsIn returns the refs of a look's elements, by their names.
func refsIn(look string, ref *regexp.Regexp) map[string]string {
	found := make(map[string]string)
	for _, m := range ref.FindAllStringSubmatch(look, -1) {
		found[m[1]] = m[2]
	}
	return found
}

func (w *desktopBench) shopByWindow(b *testing.B, d *shopTask) error {
	site := httptest.NewServer(shop.NewPage(d.shop))
	b.Cleanup(site.Close)
	s := w.newScene(b, "chromium")
	pid := s.processOf(b, "chromium", browse(b, s.Session, site.URL).PID)
	app := strconv.Itoa(pid)
	s.await(b, pid, "button Make report")
	s.awaitSettled(b, app)
	d.lists(b, s.gateway)
	look, err := d.call(b, s.gateway, "ax_get_tree", map[string]any{"app": app})
	if err != nil {
		return err
	}
	ref := regexp.MustCompile(`"([^"]+)" \[(e\d+)\]`)
	for _, form := range shopForms() {
		refs := refsIn(look, ref)
		var fields []any
		last := len(form) - 1
		for i := 0; i < last; i += 2 {
			fields = append(fields, map[string]any{"query": refs[form[i]], "value": form[i+1]})
		}
		if look, err = d.call(b, s.gateway, "ax_fill", map[string]any{"app": app, "fields": fields, "submit": refs[form[last]]}); err != nil {
			return err
		}
		if refsIn(look, ref)["From month"] == "" && form[last] == "Refund" {
			if look, err = d.call(b, s.gateway, "ax_get_tree", map[string]any{"app": app}); err != nil {
				return err
			}
		}
	}
	if !strings.Contains(d.last, "604.00 EUR") {
		_, err = d.call(b, s.gateway, "ax_find", map[string]any{"app": app, "query": "contains: 2026-01 to"})
	}
	return err
}

func (w *desktopBench) shopByPlaywright(b *testing.B, d *shopTask) error {
	site := httptest.NewServer(shop.NewPage(d.shop))
	b.Cleanup(site.Close)
	s := w.newScene(b, "chromium")
	p, err := newPlaywright(b, s.Session)
	if err != nil {
		return err
	}
	d.lists(b, p)
	if _, err := d.call(b, p, "browser_navigate", map[string]any{"url": site.URL}); err != nil {
		return err
	}
	ref := regexp.MustCompile(`"([^"]+)" \[ref=(\w+)\]`)
	for _, form := range shopForms() {
		look, err := d.call(b, p, "browser_snapshot", map[string]any{})
		if err != nil {
			return err
		}
		refs, last := refsIn(look, ref), len(form)-1
		var fields []any
		for i := 0; i < last; i += 2 {
			fields = append(fields, map[string]any{"name": form[i], "type": "textbox", "target": refs[form[i]], "value": form[i+1]})
		}
		if _, err := d.call(b, p, "browser_fill_form", map[string]any{"fields": fields}); err != nil {
			return err
		}
		if _, err := d.call(b, p, "browser_click", map[string]any{"element": form[last], "target": refs[form[last]]}); err != nil {
			return err
		}
	}
	if !strings.Contains(d.last, "604.00 EUR") {
		_, err = d.call(b, p, "browser_snapshot", map[string]any{})
	}
	return err
}
