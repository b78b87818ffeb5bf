// Package settings shows a person what is configured, why, and for what, and changes it in
// their own file: two tools of the gateway's own app, for the terminal and the page alike.
//
// A change is made to a text first, which is read as the configuration would be: what does
// not hold as a whole is not written. In the file the value's bytes change and no others. What
// lets callers do more is asked about before, as everything that does, and what was proved so
// is kept as confirmed; the rest is nobody's concern but the person's, who could write the file.
//
// The package touches the person's configuration file, a copy of what was in it before, and
// the confirmations it is given. What a setting is, and what of it widens, internal/config
// says; how a file is edited, internal/install/splice.
package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"aai"
	"aai/internal/config"
	"aai/internal/install/splice"
	"aai/internal/policy"
	"aai/internal/proof"
	"aai/internal/schema"
	"aai/internal/wholefile"
)

// The names of the tools.
const (
	List = "settings"
	Set  = "settings_set"
)

// Config is what a Room stands on.
type Config struct {
	// Running is what this process goes by.
	Running *config.Config
	// Read reads the configuration as it is now, with that text in the place of what the
	// person's file holds; nil: with the file.
	Read func(instead []byte) (*config.Config, error)
	// Confirmed keeps what a person confirmed; nil: nothing can be.
	Confirmed *proof.Settings
	// Brief says that this process ends with the call, so that what it goes by is nobody's concern.
	Brief bool
	// Before is where the file is kept as it was before the last change; empty: nowhere.
	Before string
}

// A Room shows and changes settings. It is safe for concurrent use, also by several processes.
type Room struct{ cfg Config }

// New returns a room. It does no I/O.
func New(c Config) *Room { return &Room{c} }

const listParams = `{"type": "object", "additionalProperties": false, "properties": {
	"key": {"type": "string", "description": "Only this setting"}}}`

const setParams = `{"type": "object", "additionalProperties": false, "required": ["key", "value"], "properties": {
	"key": {"type": "string", "minLength": 1, "description": "As settings lists them"},
	"value": {"description": "What it shall be, as JSON or as people write it; null takes it out of the file"},
	"seen": {"type": "string", "description": "The version of the file that was shown: if it is another by now, nothing is changed"}}}`

// Tools are those of the gateway's own app.
func (r *Room) Tools() []*aai.Tool {
	return []*aai.Tool{
		{
			Name: List, Description: "List the settings: what each is for, what it is, and who says so", Effect: aai.Reads, Unrecorded: true,
			Params: schema.MustParse(listParams), Returns: aai.Schema{Source: []byte(returns)}, Run: r.list,
		},
		{
			Name: Set, Description: "Change a setting in the person's own configuration file", Effect: aai.Changes,
			Params: schema.MustParse(setParams), Run: r.set, Vain: r.vain,
		},
	}
}

// Widens reports whether the call is one that changes a setting so that callers may do more.
// One that comes to nothing does not; if it does by then, it finds that nobody was asked.
func (r *Room) Widens(call *aai.Call) bool {
	if call.Tool != Set {
		return false
	}
	p, err := r.plan(call)
	return err == nil && p.widens
}

// Narrows tells whether a request takes rights away and gives none, with what others say of
// the other tools.
func (r *Room) Narrows(others func(*aai.Request) bool) func(*aai.Request) bool {
	return func(request *aai.Request) bool {
		if request.Tool.Name == Set {
			return !r.Widens(request.Call)
		}
		return others(request)
	}
}

// A plan is what a call would change.
type plan struct {
	key          string
	file         string // as it is named
	real         string // what a link leads to
	old, text    []byte
	there        bool // the file is
	gone         bool // the setting is taken out
	was, is      *config.Config
	widens       bool
	confirmation []proof.Setting // what holds only with it
}

// plan looks at what the call would change, and changes nothing.
func (r *Room) plan(call *aai.Call) (*plan, error) {
	key, _ := call.Args["key"].(string)
	described, err := r.find(key)
	if err != nil {
		return nil, err
	}
	p := &plan{key: key, file: r.cfg.Running.File(), gone: call.Args["value"] == nil}
	if p.old, p.real, p.there, err = r.read(p.file); err != nil {
		return nil, err
	}
	if seen, _ := call.Args["seen"].(string); seen != "" && seen != version(p.old, p.there) {
		e := aai.Errorf(aai.AutomationFailed, "%s was changed since it was shown; nothing was changed", p.file)
		e.Delivery, e.Hint = aai.NotDelivered, "Look at the settings again, and change what you still want to."
		return nil, e
	}
	if p.was, err = r.cfg.Read(nil); err != nil {
		p.was = r.cfg.Running // so that a file that is wrong can be mended
	}
	if p.text, err = p.edit(described, call.Args["value"]); err != nil {
		return nil, err
	}
	if p.is, err = r.cfg.Read(p.text); err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return nil, &e
	}
	p.widens = p.was.Widens(key, p.is)
	for _, w := range p.is.Unconfirmed {
		if w.From == p.file && w.Key == key {
			p.confirmation = append(p.confirmation, w)
		}
	}
	return p, nil
}

// edit is the file with the change in it.
func (p *plan) edit(d config.Description, value any) ([]byte, error) {
	format := formatOf(p.file)
	text := p.old
	paths := config.Paths(p.key)
	at := paths[0]
	for _, path := range paths {
		if splice.Line(text, format, path) > 0 {
			at = path
			break
		}
	}
	var err error
	if p.gone {
		text, err = splice.Unset(text, format, at)
		if len(strings.TrimSpace(string(text))) == 0 && format == splice.JSON {
			text = []byte("{}\n")
		}
	} else {
		if value, err = typed(d, value); err != nil {
			return nil, err
		}
		text, err = splice.Set(text, format, at, value)
	}
	if err != nil {
		e := invalid("%s: %w", p.file, err)
		e.Hint = "Nothing was changed. Mend the file by hand at that place, and try again."
		return nil, e
	}
	// Nothing else may be said by it, whatever else was thought of.
	before, errBefore := config.Parse(p.file, orEmpty(p.old, format))
	after, errAfter := config.Parse(p.file, text)
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

// vain says why a call to change a setting would come to nothing.
func (r *Room) vain(ctx context.Context, call *aai.Call) error {
	p, err := r.plan(call)
	if err != nil || len(p.confirmation) == 0 || r.cfg.Confirmed == nil {
		return err
	}
	return unsealed(r.cfg.Confirmed.Possible(ctx))
}

// set changes a setting. That the person may is proved where it widens: the gate has asked.
func (r *Room) set(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	if err := wholefile.MakeFor(r.cfg.Running.File()); err != nil {
		return nil, failed("the folder of the settings cannot be made: %w", err)
	}
	unlock, err := wholefile.Lock(ctx, r.cfg.Running.File())
	if err != nil {
		return nil, failed("somebody else changes the settings: %w", err)
	}
	defer unlock()
	p, err := r.plan(call)
	if err != nil {
		return nil, err
	}
	by := policy.Proof(call)
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
			if now, err := r.cfg.Read(p.text); err == nil {
				p.is = now
			}
		}
	}
	result := r.told(p)
	if unconfirmed != nil {
		result.Warning += " It is in the file, and does not hold yet: " + aai.AsError(unsealed(unconfirmed)).Message + ". Run: aai-gateway consent confirm"
	}
	return result, nil
}

// write keeps the file as it was, and writes it as it shall be.
func (r *Room) write(p *plan) error {
	if string(p.text) == string(p.old) && p.there {
		return nil
	}
	if r.cfg.Before != "" && p.there {
		if err := wholefile.MakeFor(r.cfg.Before); err == nil {
			if err = wholefile.Keep(r.cfg.Before, p.old); err != nil {
				return failed("the file as it was cannot be kept, so it was not changed: %w", err)
			}
		}
	}
	if err := wholefile.Amend(p.real, p.text); err != nil {
		return failed("%s cannot be written: %w", p.file, err)
	}
	return nil
}

// told is what came of it.
func (r *Room) told(p *plan) *aai.Result {
	now := r.row(p.is, p.describe(), p.text)
	data := map[string]any{"key": p.key, "value": now.Value, "from": now.From, "source": now.Source, "file": p.file, "version": version(p.text, true)}
	words := p.key + " is " + written(now.Value)
	if p.gone {
		words += ", since " + p.file + " does not say it any more"
	}
	if p.gone && string(p.text) == string(p.old) {
		words = p.file + " does not set " + p.key + ", so nothing was changed: it is " + written(now.Value)
		if says := p.is.Origin(p.key); says != p.file && now.Source != "default" {
			words += ", as " + says + " says"
		}
		return &aai.Result{Text: words + ".", Data: data, Idle: true}
	}
	result := &aai.Result{Text: words + ".", Data: data}
	if says := p.is.Origin(p.key); !p.gone && says != p.file && len(p.confirmation) == 0 {
		result.Warning = "what the file says does not hold while " + says + " says otherwise."
	}
	result.Warning = strings.TrimSpace(result.Warning + " Gateways that run already take it when they are started again.")
	return result
}

func (p *plan) describe() config.Description {
	for _, d := range p.is.Describe() {
		if d.Key == p.key {
			return d
		}
	}
	return config.Description{Key: p.key}
}

// read is what is in the file, and what file that is.
func (r *Room) read(path string) (text []byte, target string, there bool, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, false, nil
	}
	if err == nil {
		text, err = wholefile.Read(target, wholefile.Limits{Size: config.MaxFile})
	}
	if err != nil {
		return nil, "", false, invalid("%s: the configuration cannot be read: %w", path, err)
	}
	return text, target, true, nil
}

// find is the setting of that key.
func (r *Room) find(key string) (config.Description, error) {
	var names []string
	for _, d := range r.cfg.Running.Describe() {
		if d.Key == key {
			return d, nil
		}
		names = append(names, d.Key)
	}
	e := invalid("there is no setting %q", aai.CleanLabel(key, 60))
	e.Delivery, e.Candidates, e.Hint = aai.NotDelivered, aai.Nearest(key, names, 3), "The tool settings lists all of them."
	return config.Description{}, e
}

// version is what a file is known by.
func version(text []byte, there bool) string {
	if !there {
		return "none"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func formatOf(path string) splice.Format {
	if config.IsTOML(path) {
		return splice.TOML
	}
	return splice.JSON
}

// unsealed is the error of what must be sealed, with what to do where nothing can be.
func unsealed(err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	e := aai.Errorf(aai.AutomationNotSupported, "what lets callers do more must be sealed once it is confirmed, and nothing can be sealed here: %w", err)
	e.Hint = "Make a place for the key of secrets (aai-gateway keychain status says how), or have root write the setting into " + policy.PolicyFile + "."
	return e
}

func invalid(format string, args ...any) *aai.Error {
	return aai.Errorf(aai.InvalidParams, format, args...)
}

func failed(format string, args ...any) *aai.Error {
	e := aai.Errorf(aai.AutomationFailed, format, args...)
	e.Delivery = aai.NotDelivered
	return e
}
