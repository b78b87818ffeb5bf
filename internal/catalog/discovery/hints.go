package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// hintTime limits all requests for hints to a site together.
const hintTime = 5 * time.Second

// A Hint is a machine-readable document found on a site, such as an OpenAPI document or an MCP
// server card, but not an aai.json. Its text comes from the site and is cleaned.
type Hint struct {
	Kind    string `json:"kind"`
	URL     string `json:"url"` // address of the document
	Name    string `json:"name,omitempty"`
	Summary string `json:"says,omitempty"`
	// Items are names and addresses of listed items, limited in number; Count is the number of
	// all items.
	Items []string `json:"offers,omitempty"`
	Count int      `json:"count,omitempty"`
	HowTo string   `json:"get"` // one line about the use of the document
}

// Hints finds further documents for programs on the site at an address that Discover accepts: catalogs, cards of MCP
// servers and agents, API descriptions and notes for models. It requests a fixed set concurrently, for at most five
// seconds, and omits missing or invalid documents. words is their text for people and models, and data is a []Hint;
// both are empty if none is found. Hints counts as a lookup.
func (w *WebCatalog) Hints(ctx context.Context, address string) (words string, data any, err error) {
	t, err := w.resolve(address)
	if err != nil {
		return "", nil, err
	}
	if err := w.takeLookup(); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hintTime)
	defer cancel()
	documents := documentsOf(address)
	found := make([]*Hint, len(documents))
	var asked sync.WaitGroup
	for i, d := range documents {
		asked.Go(func() { found[i] = w.hint(ctx, t, d) })
	}
	asked.Wait()
	var hints []Hint
	for _, h := range found {
		if h != nil {
			hints = append(hints, *h)
		}
	}
	if len(hints) == 0 {
		return "", nil, nil
	}
	return hintWords(t, hints), hints, nil
}

// A document is a kind of resource that sites publish for programs.
type document struct {
	kind, path, accept string
	// read returns its contents, or nil if it is not such a document.
	read  func(body []byte) *Hint
	howTo string // with {url} for its address
}

// serverHowTo says how to use an MCP server at an address.
const serverHowTo = "An MCP server is an app here by an aai.json of the type mcp with its address (docs/mcp-apps.md)."

// documentsOf returns all documents to request from a site. A page's address may be that of an
// MCP server, with its card below.
func documentsOf(address string) []document {
	all := []document{
		{"ai-catalog", "/.well-known/ai-catalog.json", "application/json", jsonReader(readCatalog),
			"Each entry is a server or an agent of its own. " + serverHowTo},
		{"mcp-server", "/.well-known/mcp/server-card.json", "application/json", jsonReader(readServerCard), serverHowTo},
		{"api-catalog", "/.well-known/api-catalog", "application/linkset+json, application/json", jsonReader(readLinks),
			"aai-gateway import openapi, with the address of an OpenAPI document that it lists, makes an app of the API."},
		{"openapi", "/openapi.json", "application/json", jsonReader(readOpenAPI),
			"aai-gateway import openapi {url} makes an app of the API."},
		{"agent-card", "/.well-known/agent-card.json", "application/json", jsonReader(readAgentCard),
			"An agent that speaks A2A: for a client that does."},
		{"llms.txt", "/llms.txt", "text/plain, text/markdown", readNotes, "Pages for models to read, as data."},
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" || len(u.EscapedPath()) > 300 {
		return all
	}
	beside := document{"mcp-server", strings.TrimSuffix(u.EscapedPath(), "/") + "/server-card", "application/json",
		jsonReader(readServerCard), serverHowTo}
	return append(all, beside)
}

// hint requests one document. It recovers from panics, so that a bad document costs only this hint.
func (w *WebCatalog) hint(ctx context.Context, t target, d document) (h *Hint) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("the gateway failed to read a site's documents", "site", t.source(), "kind", d.kind, "cause", p)
			h = nil
		}
	}()
	address := t.origin() + d.path
	page, err := w.client.Fetch(ctx, netguard.FetchRequest{URL: address, Accept: d.accept})
	if err != nil || page.Status != http.StatusOK {
		return nil
	}
	if h = d.read(page.Body); h == nil {
		return nil
	}
	h.Kind, h.URL, h.HowTo = d.kind, aai.CleanLabel(address, 400),
		strings.ReplaceAll(d.howTo, "{url}", aai.CleanLabel(address, 400))
	h.Name, h.Summary = aai.CleanLabel(h.Name, maxHintName), aai.CleanLabel(h.Summary, maxHintText)
	return h
}

// jsonReader returns a reader of JSON objects. It ignores HTML pages, which some sites return for
// every path.
func jsonReader(read func(map[string]any) *Hint) func([]byte) *Hint {
	return func(body []byte) *Hint {
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			return nil
		}
		return read(object)
	}
}

// hintWords formats the hints for people and models, with the site's text in quotation marks.
func hintWords(t target, hints []Hint) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## What else %s publishes for programs\n", t.host)
	for _, h := range hints {
		fmt.Fprintf(&b, "\n- %s: %s", h.Kind, h.URL)
		if h.Name != "" {
			b.WriteString(", " + sanitize.Quote(h.Name, maxHintName))
		}
		if h.Summary != "" {
			b.WriteString(": " + sanitize.Quote(h.Summary, maxHintText))
		}
		if h.Count > 0 {
			fmt.Fprintf(&b, "\n  %d listed, such as ", h.Count)
			for i, offer := range h.Items {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(sanitize.Quote(offer, maxHintName))
			}
		}
		b.WriteString("\n  " + h.HowTo)
	}
	return b.String() + "\n"
}
