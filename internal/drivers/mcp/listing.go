package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Limits of a server's listing.
const (
	maxListed  = 1000 // tools
	maxPages   = 100
	maxListing = 8 << 20 // bytes of all tools
	maxName    = 128     // bytes of a tool's name
	maxSample  = 200     // bytes of what cannot be read, for an error
	// freshFor is the time for which a listing counts as current.
	freshFor = time.Minute
	// maxRelist limits the time to list again.
	maxRelist = 10 * time.Second
	// relistPause is the least time between listings that callers cause, and relistTimeout limits such a listing.
	relistPause   = 50 * time.Millisecond
	relistTimeout = 3 * time.Second
)

// listing is a server's listing of its tools and features. It is immutable.
type listing struct {
	Server       string            `json:"server"` // digest of the server's recipe
	Name         string            `json:"name,omitzero"`
	Version      string            `json:"version,omitzero"`
	Instructions string            `json:"instructions,omitzero"`
	Resources    bool              `json:"resources,omitzero"`
	Prompts      bool              `json:"prompts,omitzero"`
	Events       bool              `json:"events,omitzero"` // it may send notifications
	Hints        bool              `json:"hints,omitzero"`  // the user trusts some annotations
	Asks         bool              `json:"asks,omitzero"`   // the user allows some requests
	Rest         string            `json:"rest,omitzero"`   // reason why later pages are missing
	Tools        []json.RawMessage `json:"tools"`           // as received

	definitions []definition
	digests     map[string]string // of callable tools, by name
	asTasks     map[string]bool   // tools that are called as tasks, by name
	digest      string            // of the entire listing
	trusted     map[string]bool   // tools with trusted annotations, by digest
}

// definition is a server's definition of a tool.
type definition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitzero"`
	Description  string          `json:"description,omitzero"`
	InputSchema  json.RawMessage `json:"inputSchema,omitzero"`
	OutputSchema json.RawMessage `json:"outputSchema,omitzero"`
	Annotations  annotations     `json:"annotations,omitzero"`
	Execution    execution       `json:"execution,omitzero"`

	tool   string // the gateway's name for it
	digest string
	fault  string // reason why it is not callable
}

// annotations are a server's claims about a tool.
type annotations struct {
	Title           string `json:"title,omitzero"`
	ReadOnlyHint    bool   `json:"readOnlyHint,omitzero"`
	DestructiveHint *bool  `json:"destructiveHint,omitzero"`
}

// execution is how a server runs a tool.
type execution struct {
	TaskSupport string `json:"taskSupport,omitzero"` // "required", "optional" or "forbidden"
}

// understand decodes the tools of the listing. A faulty definition does not affect the others.
func (l *listing) understand() {
	l.digests, l.asTasks = make(map[string]string, len(l.Tools)), make(map[string]bool)
	taken := make(map[string]bool, len(l.Tools))
	whole := sha256.New()
	for i, source := range l.Tools {
		d := definition{}
		err := json.Unmarshal(source, &d)
		switch {
		case err != nil && d.Name == "": // otherwise only another member is wrong
			d = definition{Name: fmt.Sprintf("tool_%d", i+1), fault: "the server's description of it cannot be read: " + unreadable(source, err)}
		case l.digests[d.Name] != "":
			continue // the first of a name counts
		}
		if d.digest = digestOf(d); d.fault == "" {
			l.digests[d.Name], l.asTasks[d.Name] = d.digest, d.requiresTask()
		}
		d.tool = callableName(d.Name)
		for n, name := 2, d.tool; taken[d.tool]; n++ {
			d.tool = fmt.Sprintf("%s_%d", name, n)
		}
		taken[d.tool] = true
		_, _ = whole.Write([]byte(d.digest))
		l.definitions = append(l.definitions, d)
	}
	_, _ = fmt.Fprint(whole, l.Server, l.Name, l.Version, l.Resources, l.Prompts, l.Events, l.Instructions, l.Rest)
	l.digest = hex.EncodeToString(whole.Sum(nil))
}

// digestOf returns the digest of a definition, independent of its spelling.
func digestOf(d definition) string {
	b, err := json.Marshal(d)
	if err != nil {
		b = []byte(d.Name + d.Description) // no raw message was valid
	}
	if value := jsontext.Value(b); value.Canonicalize() == nil {
		b = value
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// callableName returns the server's name of a tool with "_" for characters that commands and grants
// do not allow. Of a name without letters and digits of ASCII, and of a long one, it adds a digest.
func callableName(name string) string {
	made := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '_'
	}, name)
	if name != "" && (made[0] == '-' || made[0] == '.') {
		made = "_" + made[1:]
	}
	if len(made) <= maxName && strings.Trim(made, "_-.") != "" {
		return made
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimLeft(made[:min(len(made), maxName/2)], "_-.") + "tool_" + hex.EncodeToString(sum[:3])
}

// unreadable returns the reason why a value of the server cannot be read, and its beginning.
func unreadable(source []byte, err error) string {
	why := aai.CleanLabel(err.Error(), maxSample)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		why = cmp.Or(wrong.Field, "the value") + " is a " + wrong.Value
	}
	return fmt.Sprintf("%s, in %s", why, sanitize.Quote(string(source[:min(len(source), maxSample)]), maxSample))
}

// list lists the server's tools and stores the listing.
func (s *server) list(ctx context.Context, live *session) *aai.Error {
	live.asking.Lock()
	defer live.asking.Unlock()
	live.stale.Store(false)
	l, err := live.ask(ctx)
	if err != nil {
		return err
	}
	l.Server = s.digest
	l.understand()
	live.listing.Store(l)
	live.listed.Store(time.Now().UnixNano())
	s.driver.applyListing(s.recipe.App, l)
	return nil
}

// fresh lists again if the listing may be outdated.
func (s *server) fresh(ctx context.Context, live *session) *aai.Error {
	if !live.stale.Load() && time.Since(time.Unix(0, live.listed.Load())) < freshFor {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxRelist)
	defer cancel()
	return s.list(ctx, live)
}

// listingChanged notes that the listing may be outdated, and schedules a new one.
func (s *server) listingChanged(live *session) {
	live.stale.Store(true)
	if live.following.CompareAndSwap(false, true) {
		go s.follow(live)
	}
}

// follow lists the tools again a second after a change notification, once for all notifications until then.
func (s *server) follow(live *session) {
	select {
	case <-live.ended:
		return
	case <-time.After(time.Second):
	}
	live.following.Store(false) // later notifications start another follow
	ctx, cancel := context.WithTimeout(aai.NonInteractive(context.Background()), maxRelist)
	defer cancel()
	if live.stale.Load() && !live.hasEnded() {
		if err := s.list(ctx, live); err != nil {
			live.stale.Store(true)
		}
	}
}

// ask fetches all pages of tools, within limits.
func (s *session) ask(ctx context.Context) (*listing, *aai.Error) {
	l := &listing{Tools: []json.RawMessage{}}
	if r := s.client.InitializeResult(); r != nil {
		if r.ServerInfo != nil {
			l.Name, l.Version = aai.CleanLabel(s.secrets.Redact(r.ServerInfo.Name), 100),
				aai.CleanLabel(s.secrets.Redact(r.ServerInfo.Version), 50)
		}
		l.Instructions = aai.CleanText(s.secrets.Redact(r.Instructions), maxWords)
		if c := r.Capabilities; c != nil {
			l.Resources, l.Prompts = c.Resources != nil, c.Prompts != nil
			l.Events = c.Logging != nil || c.Tools != nil && c.Tools.ListChanged || c.Prompts != nil && c.Prompts.ListChanged ||
				c.Resources != nil && (c.Resources.ListChanged || c.Resources.Subscribe)
			if c.Tools == nil {
				return l, nil
			}
		}
	}
	cursor, size, seen := "", 0, map[string]bool{}
	for page := 1; ; page++ {
		tools, next, err := s.page(ctx, cursor)
		if err != nil && page == 1 {
			return nil, s.requestError(ctx, err)
		} else if err != nil {
			l.Rest = s.requestError(ctx, err).Message
			return l, nil
		}
		for i, tool := range tools {
			size += len(tool)
			tools[i] = json.RawMessage(s.secrets.Redact(string(tool)))
		}
		if size > maxListing {
			l.Rest = fmt.Sprintf("the server lists tools of more than %d MiB", maxListing>>20)
			return l, nil
		}
		l.Tools = append(l.Tools, tools...)
		switch {
		case len(l.Tools) > maxListed:
			l.Tools, l.Rest = l.Tools[:maxListed], fmt.Sprintf("the server lists more than %d tools", maxListed)
			return l, nil
		case next == "":
			return l, nil
		case next == cursor || seen[next]:
			l.Rest = fmt.Sprintf("page %d of the server's list names a page that was already read", page)
			return l, nil
		case page == maxPages:
			l.Rest = fmt.Sprintf("the server's list has more than %d pages", maxPages)
			return l, nil
		}
		seen[next], cursor = true, next
	}
}

// page fetches one page of tools as raw JSON.
func (s *session) page(ctx context.Context, cursor string) (tools []json.RawMessage, next string, err error) {
	ctx, kept := withRawResult(ctx)
	result, err := s.client.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
	if s.wire != nil {
		defer s.wire.forget(kept)
	}
	if kept.result != nil { // includes tools that the SDK cannot decode
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		wrong := json.Unmarshal(kept.result, &page)
		if wrong == nil || page.Tools != nil {
			return page.Tools, page.NextCursor, nil
		}
		if err != nil {
			err = s.unreadableAnswer(kept.result, wrong)
		}
	}
	if err != nil {
		return nil, "", err
	}
	for _, tool := range result.Tools {
		b, err := json.Marshal(tool)
		if err != nil {
			return nil, "", err
		}
		tools = append(tools, b)
	}
	return tools, result.NextCursor, nil
}
