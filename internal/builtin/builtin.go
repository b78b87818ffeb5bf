// Package builtin provides the gateway's own app "aai", which offers the catalog, the journal and
// the policy as tools. They are tools like any other: reading a guide or granting consent takes
// the same path and is recorded in the same journal. A front end therefore depends on the gateway
// alone.
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
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// Names of the tools.
const (
	Apps               = "apps"
	Guide              = "guide"
	Descriptor         = "descriptor"
	Scan               = "scan"
	Projects           = "projects"
	History            = "history"
	ListConsents       = "consent_list"
	Grant              = "consent_grant"
	Revoke             = "consent_revoke"
	ImportConsents     = "consent_takeover"
	DropNameOnlyGrants = "consent_drop"
	Mode               = "mode"
	SetMode            = "mode_set"
	Keychain           = "keychain_status"
	Lint               = "lint"
	CheckDesktop       = "check"

	ListUnconfirmed = "consent_unconfirmed"
	ConfirmSettings = "consent_confirm"
	SetPassphrase   = "consent_passphrase"

	AuditVerify = "audit_verify"
	AuditExport = "audit_export"
)

// AgentTools returns the tools that agents may use too. They only read.
func AgentTools() []string { return []string{Apps, Guide, Descriptor, Discover, Projects, Status} }

// Dependencies holds the packages, functions and settings that the tools use. NewApp takes the catalog separately,
// because the catalog lists this app.
type Dependencies struct {
	Journal     *audit.Journal
	KeptResults *kept.ResultStore // nil: results are not kept
	Store       policy.Store
	// Revocations revoke session grants in running gateways; may be nil.
	Revocations *policy.Revocations
	// Modes hold the security mode: normal, safe or sandboxed.
	Modes *policy.ModeGate
	// Preapproved are the grants from the configuration.
	Preapproved []policy.Grant
	Web         Web // nil: no web apps
	// DiscoverLocal finds all integrations of the apps on this computer; may be nil.
	DiscoverLocal func(ctx context.Context) (any, error)
	// SiteHints returns the machine-readable documents of a site other than its aai.json, as text and as data. data is
	// nil if there are none. May be nil.
	SiteHints func(ctx context.Context, address string) (words string, data any, err error)
	// Logins hold the person's logins to web apps; may be nil.
	Logins *oauth.Authorizer
	// ModelLogin returns the login of a model's service by its name, such as "vlm:anthropic", or nil. May be nil.
	ModelLogin func(name string) *aai.Recipe
	// Vault stores secrets.
	Vault *secrets.Vault
	// UnsealedReason returns the reason why Store is a plain file, or "" if it is sealed. It is
	// nil if no store is sealed.
	UnsealedReason func() string
	// StoreFault returns the error that keeps Store from saving consents. May be nil.
	StoreFault func() error
	// Unverified holds the grants of a plain file beside Store. They have no effect until a
	// person imports them. May be nil.
	Unverified UnverifiedStore
	// ConsentTools names the builtin tools that need a person's consent when an agent calls them.
	ConsentTools []string
	// Passphrase reauthenticates the person; may be nil.
	Passphrase *reauth.Passphrase
	// Confirmed are the settings that a person confirmed. Unconfirmed returns the settings that
	// have no effect because they are not confirmed. Both or neither may be nil.
	Confirmed   *reauth.ConfirmedSettings
	Unconfirmed func() []reauth.Setting
	// FetchPage downloads a web page that a person names; may be nil. It limits hosts, size and
	// time itself.
	FetchPage func(ctx context.Context, address string) ([]byte, error)
	// CheckDesktop reports whether windows can be read and operated; may be nil.
	CheckDesktop aai.Action
	// SessionInfo describes the caller's conversation with the desktop; may be nil.
	SessionInfo aai.Action
	Version     string // of the program
	// ProtocolVersion is the newest version of MCP that agents can speak with the program.
	ProtocolVersion string
	// PromptNotice returns a notice about the way a person is asked for consent, or "". May be
	// nil.
	PromptNotice func(context.Context) string
	// WorkflowName returns the name of a workflow, or an error if it is invalid; may be nil.
	WorkflowName func(source []byte) (name string, err error)
	// Pins hold the tools that the person has pinned; nil: tools cannot be pinned.
	Pins PinStore
	// ExtraTools are tools of other packages, listed after those of this package.
	ExtraTools []*aai.Tool
	// HostPlatform is the platform of this computer: "linux", "macos" or "windows".
	HostPlatform string
}

// UnverifiedStore holds grants from a file that could have been written without the person.
type UnverifiedStore interface {
	Unverified() ([]policy.Grant, error)
	// Import makes the grants that meant selects effective, and returns their number. by is the channel through which
	// the person confirmed them.
	Import(meant func(policy.Grant) bool, by aai.Channel) (int, error)
}

// A Catalog gives the tools access to apps.
type Catalog interface {
	aai.Catalog
	// Report describes every descriptor of this computer.
	Report(ctx context.Context) (*catalog.Report, error)
}

// NewApp returns the gateway's own app. The catalog returned by known may be created later and
// contain this app; it must exist by the first call.
func NewApp(s Dependencies, known func() Catalog) *aai.App {
	c := catalogTools{known, s.Modes}
	v := keychainTool{s.Vault, s.UnsealedReason, s.Store, s.StoreFault, s.Passphrase}
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
			readTool(Projects, "List what the client's project folders have in .aai: descriptors, workflows, scripts", noParams, projectTool{s.HostPlatform, s.WorkflowName}.list),
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
			changeTool(DropNameOnlyGrants, "Forget what was allowed and refused by a caller's name alone", dropParams, k.drop),
			readTool(Mode, "Say how much callers may do at all", noParams, modeTools{s.Modes}.get),
			changeTool(SetMode, "Set how much callers may do at all", modeParams, modeTools{s.Modes}.set),
			readTool(CheckDesktop, "Say whether windows can be read here, and what was found of the person's session", noParams, s.check),
			s.statusTool(),
			readTool(Keychain, "Say where the key of secrets is, and why not in a better place", noParams, v.status),
		}, append(webTools{s.Web, s.DiscoverLocal, s.SiteHints, s.Modes}.tools(), loginTools{s.Logins, known, s.ModelLogin}.tools()...)...),
	}
	app.Tools = append(app.Tools, auditTools{s.Journal}.tools()...)
	app.Tools = append(app.Tools, pinTools{s.Pins, known}.tools()...)
	app.Tools = append(app.Tools, reauthTools{s.Passphrase, s.Confirmed, s.Unconfirmed}.tools()...)
	setReturnSchemas(app)
	app.Tools = append(app.Tools, s.ExtraTools...)
	for _, name := range []string{CheckDesktop, History, Story, AuditVerify} {
		tool := app.Tool(name)
		a := tool.Assessment(nil)
		a.AllowUnaudited = true // these tools explain failures, so they must work without a journal
		tool.Assess = aai.Always(a)
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
	return &aai.Tool{Name: name, Description: description, Params: schema.MustParse(params), Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Run: withDelivery(run)}
}

func changeTool(name, description, params string, run aai.Action) *aai.Tool {
	return &aai.Tool{Name: name, Description: description, Params: schema.MustParse(params), Effect: aai.Changes, Run: withDelivery(run)}
}

// withUnrecordedQuery omits the search text from the record: a search that checks that a secret
// is not recorded must not record it.
func withUnrecordedQuery(tool *aai.Tool) *aai.Tool {
	tool.Privacy.Secret = append(tool.Privacy.Secret, "text")
	return tool
}

// withDelivery wraps an Action that validates its arguments before it acts: errors about the call
// itself report NotDelivered.
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

// withPrecheck sets the tool's Precheck, which returns the error that a call would fail with.
func withPrecheck(vain func(context.Context, *aai.Call) error, tool *aai.Tool) *aai.Tool {
	tool.Precheck = vain
	return tool
}

// withPublicPrecheck is withPrecheck for a check that reveals no decision about other callers:
// every caller gets its error before a person is asked.
func withPublicPrecheck(vain func(context.Context, *aai.Call) error, tool *aai.Tool) *aai.Tool {
	a := tool.Assessment(nil)
	a.PrecheckPublic = true
	tool.Precheck, tool.Assess = vain, aai.Always(a)
	return tool
}

// Parameters of the tools.
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

// text returns the named argument, or "" if it is absent.
func text(call *aai.Call, name string) string {
	s, _ := call.Args[name].(string)
	return s
}

// catalogTools are the tools that describe apps.
type catalogTools struct {
	known func() Catalog
	modes *policy.ModeGate
}

// bytesPerValue is the estimated number of bytes of a descriptor for each value of its guide.
const bytesPerValue = 8

func (c catalogTools) guide(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := c.known().Find(ctx, text(call, "app"))
	if err != nil {
		return nil, err
	}
	if app.Descriptor.Relist != nil {
		app = cmp.Or(app.Descriptor.Relist(ctx), app)
	}
	if tool := text(call, "tool"); tool != "" {
		if known := app.Tool(tool); known != nil {
			if err := c.modes.CheckTool(app, known); err != nil {
				return nil, err
			}
		}
		words, data := catalog.GuideForTool(app, tool)
		if data == nil {
			return nil, unknownToolError(app, tool)
		}
		return &aai.Result{Text: words, Data: data}, nil
	}
	if err := gateway.ReserveResult(ctx, len(app.Descriptor.Raw), len(app.Descriptor.Raw)/bytesPerValue); err != nil {
		return nil, err
	}
	app = c.modes.Visible(app)
	page := catalog.Page{Group: text(call, "group"), After: text(call, "after")}
	words, data, err := catalog.GuidePage(app, page)
	if err != nil {
		return nil, err
	}
	if page == (catalog.Page{}) {
		data = catalog.GuideData(app) // all pages, for programs
	}
	return &aai.Result{Text: words, Data: data}, nil
}

func (c catalogTools) descriptor(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := c.known().Find(ctx, text(call, "app"))
	if err != nil {
		return nil, err
	}
	if app.Descriptor.Raw == nil {
		return nil, aai.Errorf(aai.AppNotFound, "%s has no descriptor; it is part of the gateway", app.ID)
	}
	if err := gateway.ReserveResult(ctx, len(app.Descriptor.Raw), 0); err != nil {
		return nil, err
	}
	source := app.Descriptor.Raw
	if here, _ := call.Args["platform"].(bool); here {
		source = catalog.DescriptorForPlatform(app)
	}
	result := &aai.Result{Text: sanitize.EscapeInvisible(string(source)), UntrustedSource: app.Site.Origin}
	if isPrintable(source) {
		result.Data = source
	}
	return result, nil
}

// isPrintable reports whether all strings of a JSON value consist of printable characters. Other
// values are returned as text only, where such characters stay escaped: a client that decodes
// data would decode them.
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
