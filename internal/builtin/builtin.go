// Package own is the gateway as an app: what it knows and keeps, as tools of the
// app "aai". Because they are tools like any other, reading a guide or granting
// consent passes the same path and is on the same record as everything else, and
// a door needs to know nothing but the gateway.
//
// The package joins the rooms that know these things: the catalog, the journal
// and the policy.
package builtin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// The names of the tools.
const (
	Apps           = "apps"
	Guide          = "guide"
	Descriptor     = "descriptor"
	Scan           = "scan"
	Projects       = "projects"
	History        = "history"
	ListConsents   = "consent_list"
	Grant          = "consent_grant"
	Revoke         = "consent_revoke"
	ImportConsents = "consent_takeover"
	DropConsent    = "consent_drop"
	Mode           = "mode"
	SetMode        = "mode_set"
	Keychain       = "keychain_status"
	Lint           = "lint"
	Check          = "check"

	ListUnconfirmed = "consent_unconfirmed"
	Confirm         = "consent_confirm"
	SetPassphrase   = "consent_passphrase"

	AuditVerify = "audit_verify"
	AuditExport = "audit_export"
)

// AgentTools are the tools that agents may use too. They say what there is and
// change nothing.
func AgentTools() []string { return []string{Apps, Guide, Descriptor, Discover, Projects} }

// Dependencies are the rooms the tools speak for. The catalog is given later than the
// others because it lists this app: see App.
type Dependencies struct {
	Journal     *audit.Journal
	KeptResults *kept.ResultStore // nil: none are kept
	Store       policy.Store
	// Revocations reach what was allowed for sessions of gateways that run; nil: none.
	Revocations *policy.Revocations
	// Modes say how strict the gateway is.
	Modes *policy.ModeGate
	// Preapproved are the grants of the configuration.
	Preapproved []policy.Grant
	Web         Web // nil: there is none
	// DiscoverLocal looks for every way into the apps of this computer; nil: nobody does.
	DiscoverLocal func(ctx context.Context) (any, error)
	// SiteHints are what else the site at an address publishes for programs, in words and as
	// data, nil where that is nothing; nil: nobody asks.
	SiteHints func(ctx context.Context, address string) (words string, data any, err error)
	// Logins know the person to web apps; nil: there are none.
	Logins *oauth.Authorizer
	// Vault keeps secrets.
	Vault *secrets.Vault
	// UnsealedReason says why the consents in Store are in a plain file; empty if they are
	// not. Nil where no store seals them.
	UnsealedReason func() string
	// StoreFault says why no consent can be kept in Store; nil: it can.
	StoreFault func() error
	// Unverified is what a plain file allows beside Store, and counts for nothing until a person
	// takes it over; nil: there is no such file.
	Unverified UnverifiedStore
	// ConsentTools names the tools of the gateway's own app about which a person is asked for an agent.
	ConsentTools []string
	// Passphrase is by what a person proves that it is they; nil: there can be none.
	Passphrase *reauth.Passphrase
	// Confirmed are the settings that a person confirmed, Unconfirmed those that do not
	// hold because nobody did. Both or none may be nil.
	Confirmed   *reauth.ConfirmedSettings
	Unconfirmed func() []reauth.Setting
	// FetchPage gets a page of the web, for a person who names one; nil: pages cannot be
	// named. It guards itself: which hosts, how much, how long.
	FetchPage func(ctx context.Context, address string) ([]byte, error)
	// CheckDesktop says whether windows can be read and operated; nil: they cannot.
	CheckDesktop aai.Action
	// PromptNotice says what a person should know of how they are asked, "" for nothing; nil:
	// nobody knows.
	PromptNotice func(context.Context) string
	// WorkflowName is the name of a workflow, or says what is wrong with it; nil: nobody knows.
	WorkflowName func(source []byte) (name string, err error)
	// ExtraTools are tools of other rooms that stand behind those of this one.
	ExtraTools []*aai.Tool
	// HostPlatform is this computer's: "linux", "macos" or "windows".
	HostPlatform string
}

// An Aside is a file of permissions that nothing says a person gave.
type UnverifiedStore interface {
	Unverified() ([]policy.Grant, error)
	// Import makes the meant ones count, as proved by the channel, and says how many.
	Import(meant func(policy.Grant) bool, by aai.Channel) (int, error)
}

// A Catalog is what the tools know of apps.
type Catalog interface {
	aai.Catalog
	// Report tells of every descriptor of this computer.
	Report(ctx context.Context) (*catalog.Report, error)
}

// NewApp returns the gateway's own app. The catalog may be made after it, with the
// app among its own; it must be there by the first call.
func NewApp(s Dependencies, known func() Catalog) *aai.App {
	c := catalogTools{known}
	v := keychainTool{s.Vault, s.UnsealedReason}
	k := consentTools{store: s.Store, revocations: s.Revocations, preapproved: s.Preapproved, known: known, keychain: v, storeFault: s.StoreFault, unverified: s.Unverified, askedTools: s.ConsentTools}
	past := historyTool{s.Journal, s.KeptResults}
	app := &aai.App{
		ID: aai.BuiltinApp, Name: "AAI Gateway", Platform: "any",
		Description: "The gateway itself: its apps, guides, history and consents.",
		Tools: append([]*aai.Tool{
			readTool(Apps, "List the apps", noParams, c.apps),
			readTool(Guide, "Say how to use an app, or one tool of it in full", toolParams, c.guide),
			readTool(Descriptor, "Return an app's descriptor as its author wrote it, or what of it is of this platform", descriptorParams, c.descriptor),
			readTool(Scan, "Look at every aai.json and say what is wrong with it", noParams, c.scan),
			readTool(Projects, "List what the client's project folders have in .aai: descriptors, workflows, scripts, baselines", noParams, projectTool{s.HostPlatform, s.WorkflowName}.list),
			withUnrecordedQuery(readTool(History, "List past calls, newest first", historyFilter, past.list)),
			readTool(Story, "Tell all that is on record of one call: what was asked for, on whose word, what it did, how it ended", storyParams, past.story),
			changeTool(ForgetResults, "Delete what is kept of what calls answered; the calls stay on record", forgetParams, past.forget),
			readTool(Totals, "Count past calls by the hour or by the day", totalsParams, statsTool{s.Journal}.totals),
			readTool(Stats, "Count past calls: how many, how many failed, how long they took", statsParams, statsTool{s.Journal}.count),
			readTool(ListConsents, "List what was allowed and refused", noParams, k.list),
			readTool(Lint, "Look at an aai.json as its author would, and at how it differs from an earlier version", lintParams, lintTool{s.FetchPage}.lint),
			withPublicPrecheck(k.precheckGrant, changeTool(Grant, "Allow a caller to use tools of an app", grantParams, k.grant)),
			changeTool(Revoke, "Forget what was allowed and refused", revokeParams, k.revoke),
			withPrecheck(k.precheckTakeover, changeTool(ImportConsents, "Give what was allowed and refused by a caller's name alone to the one whose name it was", takeoverParams, k.takeover)),
			changeTool(DropConsent, "Forget what was allowed and refused by a caller's name alone", dropParams, k.drop),
			readTool(Mode, "Say how much callers may do at all", noParams, modeTools{s.Modes}.get),
			changeTool(SetMode, "Set how much callers may do at all", modeParams, modeTools{s.Modes}.set),
			readTool(Check, "Say whether windows can be read here, and what was found of the person's session", noParams, s.check),
			readTool(Keychain, "Say where the key of secrets is, and why not in a better place", noParams, v.status),
		}, append(webTools{s.Web, s.DiscoverLocal, s.SiteHints}.tools(), loginTools{s.Logins, known}.tools()...)...),
	}
	app.Tools = append(app.Tools, auditTools{s.Journal}.tools()...)
	app.Tools = append(app.Tools, reauthTools{s.Passphrase, s.Confirmed, s.Unconfirmed}.tools()...)
	setReturnSchemas(app)
	app.Tools = append(app.Tools, s.ExtraTools...)
	for _, name := range []string{Check, History, Story, AuditVerify} {
		app.Tool(name).AllowUnaudited = true // they say what is wrong
	}
	return app
}

func (s Dependencies) check(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	result := &aai.Result{Text: "this computer's windows cannot be read yet", Data: map[string]any{"enabled": false}}
	if s.CheckDesktop != nil {
		found, err := s.CheckDesktop(ctx, call)
		if err != nil {
			return nil, err
		}
		result = found
	}
	if s.PromptNotice != nil {
		result.Warning = strings.TrimSpace(result.Warning + " " + s.PromptNotice(ctx))
	}
	if waiting := (reauthTools{unconfirmed: s.Unconfirmed}).pending(); len(waiting) > 0 {
		keys := make([]string, len(waiting))
		for i, setting := range waiting {
			keys[i] = setting.Key + " (" + setting.From + ")"
		}
		result.Warning = strings.TrimSpace(result.Warning + " Settings that nobody has confirmed do not hold: " + strings.Join(keys, ", ") + ". Run: aai-gateway consent confirm")
	}
	return result, nil
}

func readTool(name, description, params string, run aai.Action) *aai.Tool {
	return &aai.Tool{Name: name, Description: description, Params: schema.MustParse(params), Effect: aai.Reads, Run: withDelivery(run)}
}

func changeTool(name, description, params string, run aai.Action) *aai.Tool {
	return &aai.Tool{Name: name, Description: description, Params: schema.MustParse(params), Effect: aai.Changes, Run: withDelivery(run)}
}

// withUnrecordedQuery is the tool whose record is without the words that were looked for: who looks for a
// secret, to see that it is nowhere, does not put it there.
func withUnrecordedQuery(tool *aai.Tool) *aai.Tool {
	tool.Secret = append(tool.Secret, "text")
	return tool
}

// withDelivery is an Action that does nothing before it knows that it may: what it says of
// the call itself says that nothing was done.
func withDelivery(run aai.Action) aai.Action {
	return func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		result, err := run(ctx, call)
		if err == nil {
			return result, nil
		}
		e := *aai.AsError(err)
		switch e.Code {
		case aai.InvalidParams, aai.AppNotFound, aai.ToolNotFound, aai.AmbiguousTarget, aai.PermissionDenied, aai.AutomationNotSupported:
			e.Delivery = cmp.Or(e.Delivery, aai.NotDelivered)
		}
		return nil, &e
	}
}

// withPrecheck gives the tool what says why a call of it would come to nothing.
func withPrecheck(vain func(context.Context, *aai.Call) error, tool *aai.Tool) *aai.Tool {
	tool.Precheck = vain
	return tool
}

// withPublicPrecheck is unless, of what tells nothing that was decided for others: every caller is
// told before a person is asked.
func withPublicPrecheck(vain func(context.Context, *aai.Call) error, tool *aai.Tool) *aai.Tool {
	tool.Precheck, tool.PrecheckPublic = vain, true
	return tool
}

// The parameters of the tools.
const (
	noParams   = `{"type": "object", "properties": {}, "additionalProperties": false}`
	toolParams = `{"type": "object", "properties": {"app": {"type": "string", "description": "App id"},
		"tool": {"type": "string", "description": "Only this tool, in full"},
		"group": {"type": "string", "description": "Only tools of this group, where there are many"},
		"after": {"type": "string", "description": "The page behind this tool"}}, "required": ["app"], "additionalProperties": false}`

	descriptorParams = `{"type": "object", "properties": {"app": {"type": "string", "description": "App id"},
		"platform": {"type": "boolean", "description": "Only what is of the platform that its tools are of"}}, "required": ["app"], "additionalProperties": false}`

	lintParams = `{"type": "object", "additionalProperties": false, "properties": {
		"source": {"type": "string", "minLength": 1, "description": "A file, or the address of a site"},
		"against": {"type": "string", "description": "An earlier version"}},
		"required": ["source"]}`

	callFilter = `"app": {"type": "string"}, "tool": {"type": "string"}, "caller": {"type": "string"},
		"result": {"type": "string", "description": "ok, or an error code"},
		"since": {"type": "string", "format": "date-time"}, "until": {"type": "string", "format": "date-time"},
		"call": {"type": "string", "description": "The id of one call"},
		"parent": {"type": "string", "description": "Only calls that this call made"},
		"text": {"type": "string", "maxLength": 400, "description": "Words, or their beginnings, that all stand in what is on record of the call"}`

	looksParam = `{"type": "boolean", "description": "false: without what the web page read of the gateway to show it"}`

	exportParams = `{"type": "object", "additionalProperties": false, "properties": {` + callFilter + `,
		"looks": ` + looksParam + `,
		"file": {"type": "string", "description": "Absolute path of a new file; without it the lines are the answer"}}}`

	historyFilter = `{"type": "object", "additionalProperties": false, "properties": {` + callFilter + `,
		"before": {"type": "string", "description": "Only calls older than the one with this id: the next page"},
		"looks": ` + looksParam + `,
		"limit": {"type": "integer", "minimum": 1, "maximum": 10000}}}`

	grantParams = `{"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string", "minLength": 1},
		"tool": {"type": "string", "minLength": 1, "description": "* for every tool the app has now; see, act, destroy, run, host or start for desktop/<program>"},
		"tools": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": "string", "minLength": 1}, "description": "Several at once"},
		"caller": {"type": "string", "minLength": 1, "description": "What it calls itself, such as mcp:claude-ai; * for anyone"},
		"identity": {"type": "string", "minLength": 1, "description": "Who that is for certain, as questions say: a program, or http:NAME for a token"},
		"expires": {"type": "string", "format": "date-time"}},
		"required": ["app"]}`

	dropParams = `{"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string"}, "tool": {"type": "string"}, "caller": {"type": "string"}}}`

	takeoverParams = `{"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string"}, "tool": {"type": "string"}, "caller": {"type": "string", "minLength": 1},
		"identity": {"type": "string", "minLength": 1},
		"file": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "In the place of all others: takeover of rows whose source is a plain file"}}}`

	modeParams = `{"type": "object", "additionalProperties": false, "properties": {
		"mode": {"type": "string", "enum": ["normal", "safe", "sandboxed"]}}, "required": ["mode"]}`

	revokeParams = `{"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string"}, "tool": {"type": "string"}, "caller": {"type": "string"}, "identity": {"type": "string"},
		"sessions": {"type": "boolean", "enum": [true], "description": "In the place of the others: only what was allowed for sessions, in every gateway"}}}`
)

// text returns the named argument, or "" where it was not given.
func text(call *aai.Call, name string) string {
	s, _ := call.Args[name].(string)
	return s
}

// catalogTools are the tools about apps.
type catalogTools struct{ known func() Catalog }

func (c catalogTools) guide(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := c.known().Find(ctx, text(call, "app"))
	if err != nil {
		return nil, err
	}
	if tool := text(call, "tool"); tool != "" {
		words, data := catalog.GuideForTool(app, tool)
		if data == nil {
			return nil, unknownToolError(app, tool)
		}
		return &aai.Result{Text: words, Data: data}, nil
	}
	page := catalog.Page{Group: text(call, "group"), After: text(call, "after")}
	words, data, err := catalog.GuidePage(app, page)
	if err != nil {
		return nil, err
	}
	if page == (catalog.Page{}) {
		data = catalog.GuideData(app) // of all pages, for programs
	}
	return &aai.Result{Text: words, Data: data}, nil
}

// unknownToolError is the error of a guide to a tool that the app has not.
func unknownToolError(app *aai.App, tool string) error {
	names := make([]string, len(app.Tools))
	for i, t := range app.Tools {
		names[i] = t.Name
	}
	e := aai.Errorf(aai.ToolNotFound, "tool: %s has no tool %q", app.ID, aai.CleanLabel(tool, 60))
	e.Candidates = aai.Nearest(tool, names, 5)
	e.Hint = "Without tool the guide names all of them."
	return e
}

func (c catalogTools) descriptor(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := c.known().Find(ctx, text(call, "app"))
	if err != nil {
		return nil, err
	}
	if app.Descriptor == nil {
		return nil, aai.Errorf(aai.AppNotFound, "%s has no descriptor; it is part of the gateway", app.ID)
	}
	source := app.Descriptor
	if here, _ := call.Args["platform"].(bool); here {
		source = catalog.DescriptorForPlatform(app)
	}
	result := &aai.Result{Text: sanitize.EscapeInvisible(string(source)), UntrustedSource: app.Origin}
	if isPrintable(source) {
		result.Data = source
	}
	return result, nil
}

// isPrintable reports whether every string of a JSON value is of characters that
// show. One with others is given as text alone, where they are escapes: whoever
// decodes data decodes them too.
func isPrintable(source json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(source))
	for {
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if s, ok := token.(string); ok && aai.CleanText(s, len(s)+1) != s {
			return false
		}
	}
}
