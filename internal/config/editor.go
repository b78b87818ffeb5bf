package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/clients/splice"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
	"github.com/gybob/aai-gateway/internal/schema"
)

// The tools that list and change settings.
const (
	ListTool = "settings"
	SetTool  = "settings_set"
)

// EditorConfig configures an Editor.
type EditorConfig struct {
	// Running is the configuration in effect in this process.
	Running *Config
	// ReadConfig reads the current configuration, with instead replacing the contents of the
	// person's file; nil: the file itself.
	ReadConfig func(instead []byte) (*Config, error)
	// Confirmed stores the person's confirmations; may be nil.
	Confirmed *reauth.ConfirmedSettings
	// ExitsAfterCall omits the running configuration, because this process ends after the call.
	ExitsAfterCall bool
	// BackupPath is the path for a copy of the file before the last change; empty: no copy.
	BackupPath string
}

// An Editor lists and changes settings. It is safe for concurrent use, also by several processes.
type Editor struct{ cfg EditorConfig }

// NewEditor returns an editor. It does no I/O.
func NewEditor(c EditorConfig) *Editor { return &Editor{c} }

const listParams = `{"type": "object", "additionalProperties": false, "properties": {
	"key": {"type": "string", "description": "Only this setting"}}}`

const setParams = `{"type": "object", "additionalProperties": false, "required": ["key", "value"], "properties": {
	"key": {"type": "string", "minLength": 1, "description": "As settings lists them"},
	"value": {"description": "What it shall be, as JSON or as people write it; null takes it out of the file"},
	"seen": {"type": "string", "description": "The version of the file that was shown: if it is another by now, nothing is changed"}}}`

// Tools returns the editor's tools for the builtin app.
func (r *Editor) Tools() []*aai.Tool {
	return []*aai.Tool{
		{
			Name: ListTool, Description: "List the settings: what each is for, what it is, and who says so", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{AllowUnaudited: true}),
			Params: schema.MustParse(listParams), Returns: aai.Schema{Source: answer.SchemaOf[answer.Settings]()}, Run: r.list,
		},
		{
			Name: SetTool, Description: "Change a setting in the person's own configuration file", Effect: aai.Changes,
			Params: schema.MustParse(setParams), Run: r.set, Precheck: r.precheckSet,
		},
	}
}

// Widens reports whether the call changes a setting so that callers may do more. A call that
// would fail does not. If such a call succeeds later, set detects the missing confirmation.
func (r *Editor) Widens(call *aai.Call) bool {
	if call.Tool != SetTool {
		return false
	}
	p, err := r.planChange(call)
	return err == nil && p.widens
}

// NarrowingCheck returns a function that reports whether a request only takes rights away. It
// uses others for all other tools.
func (r *Editor) NarrowingCheck(others func(*aai.Request) bool) func(*aai.Request) bool {
	return func(request *aai.Request) bool {
		if request.Tool.Name == SetTool {
			return !r.Widens(request.Call)
		}
		return others(request)
	}
}

// A changePlan is the change that a call would make.
type changePlan struct {
	key           string
	file          string // as named in the configuration
	target        string // the resolved path behind links
	old, text     []byte
	exists        bool // the file exists
	removed       bool // the setting is removed
	before, after *Config
	widens        bool
	confirmation  []reauth.Setting // settings that need a confirmation for their effect
}

// planChange returns the change that a call would make, without making it.
func (r *Editor) planChange(call *aai.Call) (*changePlan, error) {
	key, _ := call.Args["key"].(string)
	described, err := r.find(key)
	if err != nil {
		return nil, err
	}
	p := &changePlan{key: key, file: r.cfg.Running.File(), removed: call.Args["value"] == nil}
	if p.old, p.target, p.exists, err = r.read(p.file); err != nil {
		return nil, err
	}
	if seen, _ := call.Args["seen"].(string); seen != "" && seen != fileVersion(p.old, p.exists) {
		e := aai.Errorf(aai.AutomationFailed, "%s was changed since it was shown; nothing was changed", p.file)
		e.Delivery, e.Hint = aai.NotDelivered, "Look at the settings again, and change what you still want to."
		return nil, e
	}
	if p.before, err = r.cfg.ReadConfig(nil); err != nil {
		p.before = r.cfg.Running // so that an invalid file can be repaired
	}
	if p.text, err = p.edit(described, call.Args["value"]); err != nil {
		return nil, err
	}
	if p.after, err = r.cfg.ReadConfig(p.text); err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return nil, &e
	}
	p.widens = p.before.Widens(key, p.after)
	for _, w := range p.after.Unconfirmed {
		if w.From == p.file && w.Key == key {
			p.confirmation = append(p.confirmation, w)
		}
	}
	return p, nil
}

// edit returns the file's text with the change.
func (p *changePlan) edit(d Description, value any) ([]byte, error) {
	format := formatOf(p.file)
	text := p.old
	paths := FilePaths(p.key)
	at := paths[0]
	for _, path := range paths {
		if splice.Line(text, format, path) > 0 {
			at = path
			break
		}
	}
	var err error
	if p.removed {
		text, err = splice.Unset(text, format, at)
		if len(strings.TrimSpace(string(text))) == 0 && format == splice.JSON {
			text = []byte("{}\n")
		}
	} else {
		if value, err = parseTyped(d, value); err != nil {
			return nil, err
		}
		text, err = splice.Set(text, format, at, value)
	}
	if err != nil {
		e := invalidParams("%s: %w", p.file, err)
		e.Hint = "Nothing was changed. Mend the file by hand at that place, and try again."
		return nil, e
	}
	// The change must affect no other setting, even if the edit above has a bug.
	before, errBefore := Parse(p.file, orEmpty(p.old, format))
	after, errAfter := Parse(p.file, text)
	if errBefore == nil && errAfter == nil {
		delete(before, p.key)
		delete(after, p.key)
		if !reflect.DeepEqual(before, after) {
			return nil, aai.Errorf(aai.Internal, "%s: the change of %s would change something else; nothing was changed", p.file, p.key)
		}
	}
	return text, nil
}

func orEmpty(text []byte, format splice.Format) []byte {
	if len(strings.TrimSpace(string(text))) == 0 && format == splice.JSON {
		return []byte("{}")
	}
	return text
}

// precheckSet returns the error that a call to change a setting would fail with.
func (r *Editor) precheckSet(ctx context.Context, call *aai.Call) error {
	p, err := r.planChange(call)
	if err != nil || len(p.confirmation) == 0 || r.cfg.Confirmed == nil {
		return err
	}
	return sealingError(r.cfg.Confirmed.CheckAvailable(ctx))
}

// set changes a setting. The policy has already reauthenticated the person if the change widens.
func (r *Editor) set(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	if err := atomicfile.EnsureDir(r.cfg.Running.File()); err != nil {
		return nil, executionError("the folder of the settings cannot be made: %w", err)
	}
	unlock, err := atomicfile.Lock(ctx, r.cfg.Running.File())
	if err != nil {
		return nil, executionError("somebody else changes the settings: %w", err)
	}
	defer unlock()
	p, err := r.planChange(call)
	if err != nil {
		return nil, err
	}
	by := policy.ReauthChannel(call)
	if p.widens && by == "" {
		e := aai.Errorf(aai.PermissionDenied, "%s would let callers do more, and nobody has confirmed it; nothing was changed", p.key)
		e.Delivery, e.Hint = aai.NotDelivered, "Try again: what is configured changed while you were not asked."
		return nil, e
	}
	if err := r.write(p); err != nil {
		return nil, err
	}
	var unconfirmed error
	if len(p.confirmation) > 0 && r.cfg.Confirmed != nil {
		if unconfirmed = r.cfg.Confirmed.Confirm(ctx, p.confirmation, by); unconfirmed == nil {
			if now, err := r.cfg.ReadConfig(p.text); err == nil {
				p.after = now
			}
		}
	}
	result := r.changeResult(p)
	if unconfirmed != nil {
		result.Warning += " It is in the file, and does not hold yet: " + aai.AsError(sealingError(unconfirmed)).Message + ". Run: aai-gateway consent confirm"
	}
	return result, nil
}

// write saves a copy of the file, then writes the new text.
func (r *Editor) write(p *changePlan) error {
	if string(p.text) == string(p.old) && p.exists {
		return nil
	}
	if r.cfg.BackupPath != "" && p.exists {
		if err := atomicfile.EnsureDir(r.cfg.BackupPath); err == nil {
			if err = atomicfile.ReplaceDurable(r.cfg.BackupPath, p.old); err != nil {
				return executionError("the file as it was cannot be kept, so it was not changed: %w", err)
			}
		}
	}
	if err := atomicfile.Modify(p.target, p.text); err != nil {
		return executionError("%s cannot be written: %w", p.file, err)
	}
	return nil
}

// changeResult returns the result of the change.
func (r *Editor) changeResult(p *changePlan) *aai.Result {
	now := r.settingRow(p.after, p.describe(), p.text)
	data := map[string]any{"key": p.key, "value": now.Value, "from": now.From, "source": now.Source, "file": p.file, "version": fileVersion(p.text, true)}
	words := p.key + " is " + formatValue(now.Value)
	if p.removed {
		words += ", since " + p.file + " does not say it any more"
	}
	if p.removed && string(p.text) == string(p.old) {
		words = p.file + " does not set " + p.key + ", so nothing was changed: it is " + formatValue(now.Value)
		if says := p.after.Origin(p.key); says != p.file && now.Source != "default" {
			words += ", as " + says + " says"
		}
		return &aai.Result{Text: words + ".", Data: data, NoOp: true}
	}
	result := &aai.Result{Text: words + ".", Data: data}
	if says := p.after.Origin(p.key); !p.removed && says != p.file && len(p.confirmation) == 0 {
		result.Warning = "what the file says does not hold while " + says + " says otherwise."
	}
	if p.key != PinnedKey {
		result.Warning += " Gateways that run already take it when they are started again."
	}
	result.Warning = strings.TrimSpace(result.Warning)
	return result
}

func (p *changePlan) describe() Description {
	for _, d := range p.after.Describe() {
		if d.Key == p.key {
			return d
		}
	}
	return Description{Key: p.key}
}

// read returns the file's text and the path that links resolve to.
func (r *Editor) read(path string) (text []byte, target string, there bool, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, false, nil
	}
	if err == nil {
		text, err = atomicfile.Read(target, atomicfile.ReadLimits{Size: MaxFileSize})
	}
	if err != nil {
		return nil, "", false, invalidParams("%s: the configuration cannot be read: %w", path, err)
	}
	return text, target, true, nil
}

// find returns the description of the setting key.
func (r *Editor) find(key string) (Description, error) {
	var names []string
	for _, d := range r.cfg.Running.Describe() {
		if d.Key == key {
			return d, nil
		}
		names = append(names, d.Key)
	}
	e := invalidParams("there is no setting %q", aai.CleanLabel(key, 60))
	e.Delivery, e.Candidates, e.Hint = aai.NotDelivered, aai.Nearest(key, names, 3), "The tool settings lists all of them."
	return Description{}, e
}

// fileVersion returns a short digest of the file's text.
func fileVersion(text []byte, there bool) string {
	if !there {
		return "none"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func formatOf(path string) splice.Format {
	if IsTOML(path) {
		return splice.TOML
	}
	return splice.JSON
}

// sealingError adds a hint to err if sealing is not supported here.
func sealingError(err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	e := aai.Errorf(aai.AutomationNotSupported, "what lets callers do more must be sealed once it is confirmed, and nothing can be sealed here: %w", err)
	e.Hint = "Make a place for the key of secrets (aai-gateway keychain status says how), or have root write the setting into " + policy.RootPolicyPath + "."
	return e
}

func invalidParams(format string, args ...any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, format, args...)
}

func executionError(format string, args ...any) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, format, args...)
	e.Delivery = aai.NotDelivered
	return e
}
