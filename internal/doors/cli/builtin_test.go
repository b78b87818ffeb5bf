package cli_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// builtinApp is the gateway's own app. Its tools answer with Go structs, maps and plain
// JSON values, as the real packages do.
func (w *world) builtinApp() *aai.App {
	open := schema(`{}`, anything)
	return &aai.App{ID: aai.BuiltinApp, Tools: append(w.workflowTools(), []*aai.Tool{
		{Name: "apps", Returns: rows("", "id:app", "name", "tools", "runnable:runs", "description", "aliases"), Run: respond(&aai.Result{Data: appList()})},
		{Name: "guide", Params: open, Run: guide},
		{Name: "descriptor", Params: open, Run: respond(&aai.Result{Text: `{"schema_version":"1.0"}`})},
		{Name: "scan", Returns: rows("files", "status", "app", "tools", "path:file", "place"), Run: w.scan},
		{Name: "discover", Params: open, Returns: rows("ways", "app", "kind:way", "state", "covered:has tools as"), Run: discovered},
		{Name: "discover_name", Params: open, Run: w.nameSite},
		{Name: "history", Params: open, Returns: rows("", "time:time:date-time", "caller", "app", "tool", "effect", "result", "ms", "consent", "call", "message"), Run: w.history},
		{Name: "story", Params: open, Returns: rows("steps", "kind:step", "consent:on whose word", "delivery"), Run: w.story},
		{Name: "audit_verify", Run: w.auditVerify},
		{Name: "audit_export", Params: open, Run: auditExport},
		{Name: "import_undo", Params: open, Run: respond(&aai.Result{Data: object{
			"from": "client:zed", "at": "2026-01-02T03:04:05Z", "seen": "s", "vaulted": []string{"mcp.a"}, "note": "The client's file stays.",
			"apps": []object{{"app": "mcp.a", "path": "/a/aai.json", "does": "put back", "diff": "-new\n+old\n"}, {"app": "mcp.b", "path": "/b/aai.json", "does": "removed"}},
		}})},
		{Name: "import_undo_save", Params: open, Run: respond(&aai.Result{Text: "Undone: mcp.a, mcp.b."})},
		{Name: "lint", Params: open, Run: lint},
		{Name: "generate", Params: open, Run: generated},
		{Name: "generate_save", Params: open, Run: respond(&aai.Result{Text: "Saved as " + generatedFile + "."})},
		{Name: "generate_probe", Params: open, Run: probed},
		{Name: "generate_check", Returns: rows("", "state", "app", "why", "path:file"), Run: respond(&aai.Result{Data: []object{
			{"state": "changed", "app": "org.example.Notes", "why": "run: aai-gateway generate org.example.Notes", "path": generatedFile},
		}})},
		{Name: "consent_list", Returns: rows("", "decision", "caller", "app", "tool", "granted_at:since:date-time", "expires_at:expires:date-time", "source", "identity"), Run: w.consentList},
		{Name: "keychain_status", Returns: rows("places", "state", "title:place of the key", "detail:why"), Run: w.keychainStatus},
		{Name: "consent_grant", Params: open, Run: consentGrant},
		{Name: "consent_takeover", Params: open, Run: respond(&aai.Result{Data: map[string]any{"taken": 3}})},
		{Name: "consent_drop", Params: open, Run: respond(&aai.Result{Data: map[string]any{"dropped": 1}})},
		{Name: "auth_status", Params: open, Returns: rows("logins", "state", "host", "app", "kind", "scopes", "expires:expires:date-time"), Run: authStatus},
		{Name: "auth_login", Params: open, Privacy: aai.Privacy{Secret: []string{"secret", "client_secret"}}, Run: authLogin},
		{Name: "auth_logout", Params: open, Run: authLogout},
		{Name: "consent_revoke", Params: open, Run: respond(&aai.Result{Data: map[string]any{"revoked": 2}})},
	}...)}
}

// rows returns the schema of rows with columns of that name, title and format, in the
// answer or in a member of it.
func rows(member string, columns ...string) aai.Schema {
	var properties []string
	for _, c := range columns {
		name, rest, _ := strings.Cut(c, ":")
		title, format, _ := strings.Cut(rest, ":")
		properties = append(properties, fmt.Sprintf(`%q: {"title": %q, "format": %q}`, name, cmp.Or(title, name), format))
	}
	source := `{"items": {"properties": {` + strings.Join(properties, ", ") + `}}}`
	if member != "" {
		source = fmt.Sprintf(`{"properties": {"about": {"type": "string"}, %q: %s}}`, member, source)
	}
	return aai.Schema{Source: json.RawMessage(source)}
}

type listed struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Aliases     []string `json:"aliases"`
	Tools       int      `json:"tools"`
	Platform    string   `json:"platform"`
	Runnable    bool     `json:"runnable"`
	Source      string   `json:"source"`
}

func appList() []listed {
	return []listed{
		{"org.example.Dictionary", "辞書アプリ", "言葉の意味を調べる。とても長い説明がここに続きます", nil, 1, "macos", false, "/b/aai.json"},
		{"org.example.Notes", "Notes\x1b[31m", "Keeps\tnotes", []string{"notes", "memo"}, 18, "linux", true, "/a/aai.json"},
	}
}

func guide(_ context.Context, call *aai.Call) (*aai.Result, error) {
	app, _ := call.Args["app"].(string)
	if app != "org.example.Notes" {
		return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", app)
	}
	return &aai.Result{Text: "# Notes\n\n\x1b[1madd: adds a note\n", Data: map[string]any{"id": app, "tools": []string{"add"}}}, nil
}

// discovered returns the app of any site, or a few integrations.
func discovered(_ context.Context, call *aai.Call) (*aai.Result, error) {
	url, _ := call.Args["url"].(string)
	if url == "" {
		return &aai.Result{Data: object{"took_ms": 7, "silent": []string{"org.example.\x1b[1mFrozen"}, "notes": []string{"not read: a.desktop"}, "ways": []object{
			{"app": "org.example.Player", "kind": "mpris", "state": "running", "gains": "plays", "get": "Write an aai.json.", "new": true},
			{"app": "org.example.Notes", "kind": "gtk-actions", "state": "running", "covered": "org.example.Notes", "gains": "its actions", "get": "Write an aai.json."},
			{"app": "org.example.Shop", "kind": "source", "state": "installed", "covered": "org.example.Shop", "gains": "what it was made of", "get": "It changed.", "changed": true},
			{"app": "org.example.Power", "kind": "dbus", "state": "running", "covered": "org.example.Power", "bus": "system", "closed": true, "gains": "its methods", "get": "It is closed."},
			{"app": "tickets", "kind": "mcp-server", "state": "configured", "gains": "its tools", "get": "It is a client's.", "variables": []string{"TICKETS_TOKEN", "TICKETS_URL"}},
		}}}, nil
	}
	if url == "down.example" {
		return nil, aai.Errorf(aai.AppNotRunning, "%s could not be reached", url)
	}
	return &aai.Result{Text: "# Site\n\n\x1b[1m" + url + "\n", Data: map[string]any{"url": url}, UntrustedSource: "https://" + url}, nil
}

// nameSite stores the name, unless it has a dot.
func (w *world) nameSite(_ context.Context, call *aai.Call) (*aai.Result, error) {
	name, _ := call.Args["name"].(string)
	if strings.Contains(name, ".") {
		return nil, aai.Errorf(aai.InvalidParams, "name: %q is no name for a site", name)
	}
	return &aai.Result{Data: call.Args}, nil
}

type object = map[string]any

const generatedFile = "/home/ann/.aai/org.example.Notes/aai.json"

// generated returns the descriptor that the app's name selects.
func generated(_ context.Context, call *aai.Call) (*aai.Result, error) {
	app, start := call.Args["app"], call.Args["start"]
	if app == "asleep" && start != true {
		return nil, aai.Errorf(aai.AppNotRunning, "org.example.Asleep does not run")
	}
	return &aai.Result{Text: "{}", Data: object{
		"app": "org.example.Notes", "path": generatedFile, "seen": "0f0f", "same": app == "same", "tools": 3, "guide_tokens": 200,
		"diff": "+  \"schema_version\": \"1.0\"\n", "notes": []string{"a thing is\x1b left out"},
	}}, nil
}

func probed(_ context.Context, call *aai.Call) (*aai.Result, error) {
	return &aai.Result{Text: fmt.Sprintf("%v got %v", call.Args["tool"], call.Args["args"])}, nil
}

// lint returns the findings that the file's name selects.
func lint(_ context.Context, call *aai.Call) (*aai.Result, error) {
	source, _ := call.Args["source"].(string)
	report := object{"app": "org.example.Notes", "version": "1.0.0", "tools": 2, "guide_tokens": 300, "findings": []object{}}
	switch {
	case strings.Contains(source, "none"):
		return nil, aai.Errorf(aai.DescriptorInvalid, "%s cannot be read", source)
	case strings.Contains(source, "wrong"):
		report["findings"] = []object{
			{"severity": "error", "rule": "invalid", "line": 1, "column": 1, "problem": "name: missing"},
			{"severity": "warning", "rule": "poisoning", "path": "tools[0]", "line": 7, "column": 30, "problem": "asks\x1b for a secret", "mend": "Do not."},
		}
		report["errors_omitted"] = 3
	case call.Args["against"] != nil:
		report["comparison"] = object{"old": "1.0.0", "new": "1.1.0", "needed": "MINOR", "made": "MINOR", "enough": true, "changes": []object{
			{"bump": "MINOR", "path": "tools[1]", "change": "is new: the tool count"},
		}}
	}
	return &aai.Result{Data: report}, nil
}

// scan reports an invalid file, unless the script sets another result.
func (w *world) scan(context.Context, *aai.Call) (*aai.Result, error) {
	files := []object{
		{"path": "/a/aai.json", "place": "/a", "app": "org.example.Notes", "tools": 18, "status": "ok"},
		{"path": "/b/aai.json", "place": "/b", "app": "org.example.Notes", "tools": 0, "status": "shadowed", "shadowed_by": "/a/aai.json",
			"warnings": []object{{"problem": "no\x1b version"}}},
	}
	switch w.typed {
	case "all is well":
	case "a schema is wrong":
		files[0]["errors"] = []object{{"path": "add.parameters", "problem": "no such type"}}
	default:
		files = append(files, object{"path": "/c/aai.json", "place": "/c", "tools": 0, "status": "invalid", "errors_omitted": 3, "errors": []object{
			{"path": "platforms.linux.tools[1].method", "problem": "expected a string, got 7"},
		}})
	}
	return &aai.Result{Data: object{"files": files}}, nil
}

// history returns one call for every filter, with the filter as the tool.
func (w *world) history(_ context.Context, call *aai.Call) (*aai.Result, error) {
	if call.Args["app"] == "none" {
		return &aai.Result{Data: []object{}}, nil
	}
	if call.Args["app"] == "odd" {
		return &aai.Result{Data: "a text"}, nil
	}
	if call.Args["app"] == "flood" {
		return &aai.Result{Data: []object{{
			"time": "2026-01-02T03:04:05.000000006Z", "until": "2026-01-02T03:04:09Z", "call": "f1", "caller": "claude",
			"result": "refused", "count": 7, "codes": object{"RATE_LIMITED": 2, "APP_NOT_FOUND": 5}, "ms": 0,
		}}}, nil
	}
	since, _ := call.Args["since"].(string)
	if strings.HasPrefix(since, "20") && since != "2026-01-02T03:04:05Z" {
		at, err := time.Parse(time.RFC3339, since)
		if ago := time.Since(at); err != nil || ago < 7*24*time.Hour || ago > 7*24*time.Hour+time.Minute {
			return nil, aai.Errorf(aai.InvalidParams, "since %q is not a week ago", since)
		}
		call.Args["since"] = "a week ago"
	}
	past := object{
		"time": "2026-01-02T03:04:05.000000006Z", "call": "c1", "caller": "claude", "app": "org.example.Notes", "tool": "add",
		"effect": "changes", "on": object{"role": "button", "name": "Save", "id": "save-btn", "window": "Notes", "effect_unknown": true}, "consent": "once", "result": "ok", "ms": 12.5, "asked_for": call.Args,
	}
	return &aai.Result{Data: []object{past}}, nil
}

// story returns the story of the calls in history.
func (w *world) story(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	id, _ := call.Args["call"].(string)
	filter := map[string]string{"f1": "flood", "c1": ""}
	app, known := filter[id]
	if !known {
		return nil, aai.Errorf(aai.InvalidParams, "call: no call %q is on record", id)
	}
	result, err := w.history(ctx, &aai.Call{Args: map[string]any{"app": app}})
	if err != nil {
		return nil, err
	}
	rows, _ := result.Data.([]object)
	return &aai.Result{Data: object{
		"call": rows[0], "parent": object{"call": "c0", "app": "aai", "tool": "batch", "result": "ok"},
		"children": []object{{"call": "k1", "app": "desktop", "target": "desktop/editor", "tool": "press", "result": "ok"}}, "children_omitted": 7,
		"steps": []object{{"kind": "intent", "consent": "once", "delivery": ""}, {"kind": "outcome", "delivery": "delivered"}},
	}}, nil
}

// auditVerify finds a changed record, if the script sets that.
func (w *world) auditVerify(context.Context, *aai.Call) (*aai.Result, error) {
	if w.typed == "somebody was here" {
		fault := object{"status": "tampered", "record": 3, "file": "audit.jsonl", "reason": "record 3 is missing"}
		next := object{"status": "truncated", "record": 9, "file": "audit.jsonl", "reason": "2 records are missing at the end"}
		return &aai.Result{
			Text: "tampered at record 3: record 3 is missing",
			Data: object{"status": "tampered", "records": 6, "faults": []object{fault, next}, "unchained": []string{"audit-before-1.jsonl"}},
		}, nil
	}
	return &aai.Result{Text: "ok, 7 records", Data: object{"status": "ok", "records": 7}}, nil
}

// auditExport returns its arguments.
func auditExport(_ context.Context, call *aai.Call) (*aai.Result, error) {
	b, err := json.Marshal(call.Args)
	if err != nil {
		return nil, err
	}
	status := "ok"
	if call.Args["tool"] == "forged" {
		status = "tampered"
	}
	return &aai.Result{Text: string(b), Data: object{"status": status}}, nil
}

type decision struct {
	Caller    string    `json:"caller"`
	Identity  string    `json:"identity,omitempty"`
	App       string    `json:"app"`
	Tool      string    `json:"tool"`
	Decision  string    `json:"decision"`
	GrantedAt time.Time `json:"granted_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	Source    string    `json:"source"`
	ByName    bool      `json:"by_name,omitempty"`
}

func consents() []decision {
	return []decision{
		{"mcp:claude", "/usr/bin/claude", "org.example.Notes", "add", "allow", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Time{}, "stored", false},
		{"mcp:claude", "", "org.example.Old", "add", "allow", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Time{}, "stored", true},
		{"*", "", "org.example.Bus", "*", "allow", time.Time{}, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), "preapproved", false},
	}
}

// consentList warns that nothing is sealed, if the script sets that.
func (w *world) consentList(context.Context, *aai.Call) (*aai.Result, error) {
	result := &aai.Result{Data: consents()}
	if w.typed == "nothing is sealed" {
		result.Warning = "the consents are in a plain file: no\x1b key"
	}
	return result, nil
}

// keychainStatus returns a keychain in use, or the state that the script sets.
func (w *world) keychainStatus(context.Context, *aai.Call) (*aai.Result, error) {
	places := []object{
		{"name": "keychain", "title": "the keychain of the operating system", "state": "in use"},
		{"name": "credential", "title": "the credential aai-master", "state": "unavailable", "detail": "CREDENTIALS_DIRECTORY is not\x1b set"},
	}
	status := object{"folder": "/home/x/secrets", "made": true, "key": "0123abcd", "records": 2, "place": "keychain", "places": places}
	switch w.typed {
	case "nothing was kept":
		status = object{"folder": "/home/x/secrets", "made": false, "records": 0, "places": []object{{"title": "the keychain", "state": "next"}}}
	case "nothing is sealed":
		places[0]["state"], places[0]["detail"] = "unavailable", "there is no session bus"
		status["made"], status["problem"], status["consents_unsealed"] = false, "no place here can keep the key", "no key"
	case "insecure":
		status["warning"] = "whoever can read /home/x/secrets/key can read your secrets"
	}
	return &aai.Result{Data: status}, nil
}

// consentGrant does not know the tool "nosuch", and returns the time until the end.
func consentGrant(_ context.Context, call *aai.Call) (*aai.Result, error) {
	tools, _ := call.Args["tools"].([]any)
	if call.Args["tool"] == "nosuch" || slices.Contains(tools, any("nosuch")) {
		return nil, aai.Errorf(aai.ToolNotFound, "there is no tool \"nosuch\"")
	}
	if expires, given := call.Args["expires"].(string); given && !strings.HasPrefix(expires, "2099-") {
		at, err := time.Parse(time.RFC3339, expires)
		if left := time.Until(at); err != nil || left > 30*24*time.Hour || left < 30*24*time.Hour-time.Minute {
			return nil, aai.Errorf(aai.InvalidParams, "expires %q is not in 30 days", expires)
		}
	}
	return &aai.Result{Data: call.Args}, nil
}

// authStatus knows an app with a login page, one that needs a key and a cookie, and one
// that sends logins to another site.
func authStatus(_ context.Context, call *aai.Call) (*aai.Result, error) {
	app, _ := call.Args["app"].(string)
	logins := []object{
		{"host": "a.example", "app": "a.example/x", "kind": "oauth2", "state": "logged in", "expires": "2027-01-02T03:04:05Z", "renews": true, "scopes": []string{"read", "write"}},
		{"host": "b.example", "kind": "apiKey", "state": "key kept"},
	}
	switch app {
	case "":
		return &aai.Result{Data: object{"logins": logins}}, nil
	case "page.example":
		return &aai.Result{Data: object{"host": app, "kind": "oauth2", "logins": []object{}}}, nil
	case "keyed.example":
		return &aai.Result{Data: object{
			"host": app, "kind": "cookie", "asks": []object{{"name": "key", "label": "API key"}, {"name": "sid", "label": "cookie sid"}},
			"obtain_url": "https://keyed.example/keys", "instructions": "Click\x1b[31m Keys", "logins": []object{},
		}}, nil
	case "mixed.example":
		return &aai.Result{Data: object{"host": app, "kind": "oauth2", "untrusted": []string{"one.other", "two.other"}, "logins": []object{}}}, nil
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", app)
}

// authLogin returns its arguments, and reports progress meanwhile. It fails if a host is
// not trusted.
func authLogin(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	trust, _ := call.Args["trust"].([]any)
	if call.Args["app"] == "mixed.example" && len(trust) < 2 {
		return nil, aai.Errorf(aai.AuthInvalid, "logins go to another site")
	}
	for i := range 3 {
		gateway.Progress(ctx, float64(i), 0, "Waiting for you at https://page.example/\x1b[2J")
	}
	given := object{}
	for _, name := range slices.Sorted(maps.Keys(call.Args)) {
		given[name] = fmt.Sprint(call.Args[name])
	}
	return &aai.Result{Data: object{"host": call.Args["app"], "given": given}}, nil
}

func authLogout(_ context.Context, call *aai.Call) (*aai.Result, error) {
	if call.Args["app"] == "nothing.example" {
		return &aai.Result{Data: object{"host": "nothing.example", "forgotten": 0, "revoked": 0}}, nil
	}
	return &aai.Result{Data: object{"host": call.Args["app"], "forgotten": 1, "revoked": 2, "warnings": []string{"it ends\x1b by itself"}}}, nil
}

// workflowTools are the gateway's own tools for workflows; they return their arguments.
func (w *world) workflowTools() []*aai.Tool {
	open := schema(`{}`, anything)
	asked := func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		b, err := json.Marshal(call.Args)
		return &aai.Result{Text: call.Tool + " " + string(b)}, err
	}
	files, runs := []map[string]any{}, []map[string]any{}
	if !w.noClients {
		files = append(files, map[string]any{"name": "tidy", "params": []string{"folder", "days"}, "description": "Tidies up.", "file": "/w/tidy.json"})
		runs = append(runs,
			map[string]any{"run": "c1", "workflow": "tidy", "state": "interrupted", "at": "step 2 of 3", "began": "2026-01-02T03:04:05Z", "caller": "mcp:agent"},
			map[string]any{"run": "c0", "workflow": "tidy", "state": "done", "at": "step 3 of 3", "began": "2026-01-02T03:04:05Z", "caller": "mcp:agent"})
	}
	return []*aai.Tool{
		{Name: "workflow_list", Returns: rows("", "name:workflow", "params", "description", "file"), Run: respond(&aai.Result{Data: files})},
		{Name: "workflow_runs", Returns: rows("", "run", "workflow", "state", "at", "began:began:date-time", "caller"), Run: respond(&aai.Result{Data: runs})},
		{Name: "workflow_show", Params: open, Run: asked},
		{Name: "workflow_resume", Params: open, Run: asked},
		{Name: "workflow_rollback", Params: open, Run: asked},
		{Name: "workflow_file", Params: open, Run: asked},
	}
}
